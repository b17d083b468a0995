#!/bin/bash
# Prints a hall of nodes as YAML: RACKS racks of HOSTS nodes with CPUS cpus each, all in one block.
# usage: nodes.sh [RACKS [HOSTS [CPUS]]]
set -eu
seq 1 "${1:-10}" | awk -v hosts="${2:-64}" -v cpus="${3:-8}" '{
    for (h = 1; h <= hosts; h++) {
        name = sprintf("r%02d-n%02d", $1, h)
        printf "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: %s\n  labels: {pool: hall, sluice.dev/block: block-1, sluice.dev/rack: rack-%d, kubernetes.io/hostname: %s}\n", name, $1, name
        printf "status:\n  allocatable: {cpu: %d, memory: 64Gi, pods: 110}\n  conditions:\n  - {type: Ready, status: \"True\"}\n", cpus
    }
}'
