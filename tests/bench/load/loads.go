// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A load: cohorts of queues, and what arrives in each of them. Every queue has a namespace, a LocalQueue and
// a ClusterQueue of its own name.
type load struct {
	Cohorts   int     `json:"cohorts"`
	Queues    int     `json:"queuesPerCohort"`
	Nominal   string  `json:"nominalCPU"`
	Borrowing string  `json:"borrowingCPU"`
	Reclaim   string  `json:"reclaimWithinCohort"`
	Within    string  `json:"withinClusterQueue"`
	Classes   []class `json:"classes"`
	Racks     int     `json:"racks"`        // 0: no topology
	Nodes     int     `json:"nodesPerRack"` // of NodeCPU each
	NodeCPU   string  `json:"nodeCPU"`
	NodeMem   string  `json:"nodeMemory"`
}

// Workloads of one kind: `Count` for each queue, one every `EveryMs`, which run for `RunMs` once they are admitted.
type class struct {
	Name     string `json:"name"`
	Count    int    `json:"count"`
	EveryMs  int    `json:"everyMs"`
	RunMs    int    `json:"runMs"`
	Priority int    `json:"priority"`
	PodCPU   string `json:"podCPU"`
	Pods     int    `json:"pods"`     // 0 = 1
	MilliCPU int    `json:"milliCPU"` // of all its pods, for the figures
	Topology string `json:"topology"` // required, preferred, balanced, or "" for none
	Slice    int    `json:"slice"`    // pods of a slice, balanced only
}

func (c class) run() time.Duration   { return time.Duration(c.RunMs) * time.Millisecond }
func (c class) every() time.Duration { return time.Duration(c.EveryMs) * time.Millisecond }

func readLoad(path string, divisor int) (*load, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var l load
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range l.Classes {
		c := &l.Classes[i]
		c.Count = max(1, c.Count/divisor)
		c.Pods = max(1, c.Pods)
	}
	return &l, nil
}

func (l *load) workloads() int {
	n := 0
	for _, c := range l.Classes {
		n += c.Count
	}
	return n * l.Cohorts * l.Queues
}

type object = map[string]any
type list = []any

func meta(ns, name string, labels object) object {
	m := object{"name": name}
	if ns != "" {
		m["namespace"] = ns
	}
	if labels != nil {
		m["labels"] = labels
	}
	return m
}

const (
	kueue     = "kueue.x-k8s.io/v1beta2"
	rackLabel = "example.com/rack"
	poolLabel = "example.com/pool"
	hostLabel = "kubernetes.io/hostname"
)

func (l *load) flavor() object {
	spec := object{}
	if l.Racks > 0 {
		spec["nodeLabels"] = object{poolLabel: "load"}
		spec["topologyName"] = "load"
	}
	return object{"apiVersion": kueue, "kind": "ResourceFlavor", "metadata": meta("", "load", nil), "spec": spec}
}

func topology() object {
	return object{"apiVersion": kueue, "kind": "Topology", "metadata": meta("", "load", nil),
		"spec": object{"levels": list{object{"nodeLabel": rackLabel}, object{"nodeLabel": hostLabel}}}}
}

func (l *load) node(rack, i int) object {
	name := fmt.Sprintf("rack-%d-node-%d", rack, i)
	room := object{"cpu": l.NodeCPU, "memory": l.NodeMem, "pods": "110"}
	return object{"apiVersion": "v1", "kind": "Node",
		"metadata": meta("", name, object{poolLabel: "load", rackLabel: fmt.Sprintf("rack-%d", rack), hostLabel: name}),
		"status": object{"allocatable": room, "capacity": room,
			"conditions": list{object{"type": "Ready", "status": "True", "reason": "Load",
				"lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}}}}
}

func (l *load) clusterQueue(name, cohort string) object {
	quota := object{"name": "cpu", "nominalQuota": l.Nominal}
	if l.Borrowing != "" {
		quota["borrowingLimit"] = l.Borrowing
	}
	return object{"apiVersion": kueue, "kind": "ClusterQueue", "metadata": meta("", name, nil),
		"spec": object{"cohortName": cohort, "namespaceSelector": object{},
			"preemption": object{"reclaimWithinCohort": l.Reclaim, "withinClusterQueue": l.Within},
			"resourceGroups": list{object{"coveredResources": list{"cpu"},
				"flavors": list{object{"name": "load", "resources": list{quota}}}}}}}
}

func localQueue(name string) object {
	return object{"apiVersion": kueue, "kind": "LocalQueue", "metadata": meta(name, name, nil),
		"spec": object{"clusterQueue": name}}
}

func (c class) podSet() object {
	set := object{"name": "main", "count": c.Pods,
		"template": object{"spec": object{"restartPolicy": "Never", "containers": list{
			object{"name": "c", "image": "example.com/none", "resources": object{"requests": object{"cpu": c.PodCPU}}}}}}}
	switch c.Topology {
	case "required":
		set["topologyRequest"] = object{"required": rackLabel}
	case "preferred":
		set["topologyRequest"] = object{"preferred": rackLabel}
	case "balanced":
		set["topologyRequest"] = object{"podSetSliceRequiredTopology": rackLabel, "podSetSliceSize": c.Slice}
	}
	return set
}

func (c class) workload(queue string, i int) object {
	return object{"apiVersion": kueue, "kind": "Workload",
		"metadata": meta(queue, fmt.Sprintf("%s-%d", c.Name, i), object{"class": c.Name}),
		"spec":     object{"queueName": queue, "priority": c.Priority, "active": true, "podSets": list{c.podSet()}}}
}
