#!/bin/sh
# Plays the part of the controller of the check "budget": without arguments it says that the check is active, with a
# workload's name it sets the state of its check.
# usage: approve.sh [WORKLOAD [Ready|Retry|Rejected]]    environment: NAMESPACE, KUBECTL
set -eu
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
if [ $# -eq 0 ]; then
    exec ${KUBECTL:-kubectl} patch admissioncheck budget --subresource=status --type=merge -p "{
      \"status\": {\"conditions\": [{\"type\": \"Active\", \"status\": \"True\", \"reason\": \"Ready\", \"message\": \"\",
        \"lastTransitionTime\": \"$now\"}]}}"
fi
${KUBECTL:-kubectl} patch workload "$1" -n "${NAMESPACE:-checks}" --subresource=status --type=merge -p "{
  \"status\": {\"admissionChecks\": [{\"name\": \"budget\", \"state\": \"${2:-Ready}\", \"message\": \"asked for by hand\",
    \"lastTransitionTime\": \"$now\"}]}}"
