// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Asks Kueue's topology cache the questions of cases of the suite topology and writes down its answers, the
// reasons as they are. To be copied into pkg/cache/scheduler of a checkout of Kueue.
package scheduler

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	tasindexer "sigs.k8s.io/kueue/pkg/controller/tas/indexer"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/util/answers"
	"sigs.k8s.io/kueue/pkg/util/tas"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	"sigs.k8s.io/kueue/pkg/workload"
)

type topologyAmounts map[corev1.ResourceName]int64

type topologyUse struct {
	Values            []string        `json:"values"`
	SinglePodRequests topologyAmounts `json:"singlePodRequests"`
	Count             int32           `json:"count"`
}

type topologyCase struct {
	FeatureGates map[string]bool   `json:"featureGates"`
	Objects      []json.RawMessage `json:"objects"`
	Input        struct {
		Levels     []string          `json:"levels"`
		NodeLabels map[string]string `json:"nodeLabels"`
		PodSets    []struct {
			PodSet             kueue.PodSet              `json:"podSet"`
			Count              int32                     `json:"count"`
			SinglePodRequests  topologyAmounts           `json:"singlePodRequests"`
			Implied            bool                      `json:"implied"`
			PodSetGroupName    *string                   `json:"podSetGroupName"`
			PreviousAssignment *kueue.TopologyAssignment `json:"previousAssignment"`
		} `json:"podSets"`
		Workload              *kueue.Workload            `json:"workload"`
		PriorOwnUsage         []topologyUse              `json:"priorOwnUsage"`
		AggregatedDomainUsage map[string]topologyAmounts `json:"aggregatedDomainUsage"`
	} `json:"input"`
}

type topologyAnswer struct {
	Reason             string                  `json:"reason"`
	TopologyAssignment *tas.TopologyAssignment `json:"topologyAssignment,omitempty"`
}

func topologyObjects(t *testing.T, c *topologyCase) ([]corev1.Node, []corev1.Pod) {
	var nodes []corev1.Node
	var pods []corev1.Pod
	for _, raw := range c.Objects {
		var m metav1.TypeMeta
		_ = json.Unmarshal(raw, &m)
		switch m.Kind {
		case "Node":
			var o corev1.Node
			_ = json.Unmarshal(raw, &o)
			nodes = append(nodes, o)
		case "Pod":
			var o corev1.Pod
			_ = json.Unmarshal(raw, &o)
			pods = append(pods, o)
		default:
			t.Fatalf("kind %s", m.Kind)
		}
	}
	return nodes, pods
}

func topologyAsk(t *testing.T, c *topologyCase) map[string]topologyAnswer {
	ctx, log := utiltesting.ContextWithLog(t)
	gates := map[featuregate.Feature]bool{}
	for k, v := range c.FeatureGates {
		gates[featuregate.Feature(k)] = v
	}
	features.SetFeatureGatesDuringTest(t, gates)
	nodes, pods := topologyObjects(t, c)
	var objects []client.Object
	for i := range nodes {
		objects = append(objects, &nodes[i])
	}
	for i := range pods {
		objects = append(objects, &pods[i])
	}
	builder := utiltesting.NewClientBuilder().WithObjects(objects...)
	_ = tasindexer.SetupIndexes(ctx, utiltesting.AsIndexer(builder))
	cache := NewTASCache(builder.Build(), newDefaultSimulator(), resources.NewResourceFormatter())
	for i := range nodes {
		cache.SyncNode(&nodes[i])
	}
	for i := range pods {
		cache.UpdateNonTASUsage(&pods[i], log)
	}
	flavor := cache.NewTASFlavorCache(topologyInformation{Levels: c.Input.Levels}, flavorInformation{TopologyName: "default", NodeLabels: c.Input.NodeLabels})
	var used []workload.TopologyDomainRequests
	for _, u := range c.Input.PriorOwnUsage {
		used = append(used, workload.TopologyDomainRequests{Values: u.Values, SinglePodRequests: resources.NewRequestsFromMap(u.SinglePodRequests), Count: u.Count})
	}
	if len(used) > 0 {
		flavor.addUsage(log, "prior-wl", used)
	}
	var aggregated map[tas.TopologyDomainID]resources.Requests
	if features.Enabled(features.TASHandleOverlappingFlavors) && tas.IsLowestLevelHostname(c.Input.Levels) && len(c.Input.AggregatedDomainUsage) > 0 {
		aggregated = map[tas.TopologyDomainID]resources.Requests{}
		for d, a := range c.Input.AggregatedDomainUsage {
			aggregated[tas.TopologyDomainID(d)] = resources.NewRequestsFromMap(a)
		}
	}
	snapshot, err := flavor.snapshot(ctx, log, newDefaultSimulatorSnapshot(), aggregated)
	if err != nil {
		t.Fatal(err)
	}
	var asked []TASPodSetRequests
	for i := range c.Input.PodSets {
		p := &c.Input.PodSets[i]
		asked = append(asked, TASPodSetRequests{PodSet: &p.PodSet, SinglePodRequests: resources.NewRequestsFromMap(p.SinglePodRequests), Count: p.Count,
			PreviousAssignment: p.PreviousAssignment, PodSetGroupName: p.PodSetGroupName, Implied: p.Implied})
	}
	var opts []FindTopologyAssignmentsOption
	if c.Input.Workload != nil {
		opts = append(opts, WithWorkload(c.Input.Workload))
	}
	out := map[string]topologyAnswer{}
	for name, r := range snapshot.FindTopologyAssignmentsForFlavor(ctx, asked, opts...) {
		out[string(name)] = topologyAnswer{Reason: r.FailureReason, TopologyAssignment: r.TopologyAssignment}
	}
	return out
}

func TestTopologyOracle(t *testing.T) {
	answers.Write(t, func(t *testing.T, c *topologyCase) map[string]any {
		return map[string]any{"podSets": topologyAsk(t, c)}
	})
}
