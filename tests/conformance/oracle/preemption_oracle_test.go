// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Asks Kueue's preemptor for the targets in cases of the suite preemption and writes down its answers. To be copied
// into pkg/scheduler/preemption of a checkout of Kueue.
package preemption

import (
	"encoding/json"
	"sort"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/featuregate"
	clocktesting "k8s.io/utils/clock/testing"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/answers"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	"sigs.k8s.io/kueue/pkg/workload"
)

type preemptionCase struct {
	Now          time.Time       `json:"now"`
	FeatureGates map[string]bool `json:"featureGates"`
	Config       struct {
		FairSharing struct {
			Enable               bool                        `json:"enable"`
			PreemptionStrategies []config.PreemptionStrategy `json:"preemptionStrategies"`
		} `json:"fairSharing"`
	} `json:"config"`
	Objects []json.RawMessage `json:"objects"`
	Input   struct {
		Incoming     kueue.Workload              `json:"incoming"`
		ClusterQueue kueue.ClusterQueueReference `json:"clusterQueue"`
		Assignment   struct {
			PodSets []struct {
				Name    kueue.PodSetReference `json:"name"`
				Count   int32                 `json:"count"`
				Flavors map[corev1.ResourceName]struct {
					Name kueue.ResourceFlavorReference `json:"name"`
					Mode string                        `json:"mode"`
				} `json:"flavors"`
			} `json:"podSets"`
		} `json:"assignment"`
	} `json:"input"`
}

type preemptionTarget struct {
	Key          string `json:"key"`
	Reason       string `json:"reason"`
	ClusterQueue string `json:"clusterQueue"`
}

func preemptionAssignment(c *preemptionCase) flavorassigner.Assignment {
	modes := map[string]flavorassigner.FlavorAssignmentMode{"Fit": flavorassigner.Fit, "Preempt": flavorassigner.Preempt, "NoFit": flavorassigner.NoFit}
	var a flavorassigner.Assignment
	for _, p := range c.Input.Assignment.PodSets {
		ps := flavorassigner.PodSetAssignment{Name: p.Name, Count: p.Count, Flavors: flavorassigner.ResourceAssignment{}}
		for r, f := range p.Flavors {
			ps.Flavors[r] = &flavorassigner.FlavorAssignment{Name: f.Name, Mode: modes[f.Mode]}
		}
		a.PodSets = append(a.PodSets, ps)
	}
	return a
}

func preemptionAsk(t *testing.T, c *preemptionCase) []preemptionTarget {
	ctx, log := utiltesting.ContextWithLog(t)
	gates := map[featuregate.Feature]bool{}
	for k, v := range c.FeatureGates {
		gates[featuregate.Feature(k)] = v
	}
	features.SetFeatureGatesDuringTest(t, gates)
	var wls []kueue.Workload
	var cqs []*kueue.ClusterQueue
	var cohorts []*kueue.Cohort
	var flavors []*kueue.ResourceFlavor
	for _, raw := range c.Objects {
		var m metav1.TypeMeta
		_ = json.Unmarshal(raw, &m)
		switch m.Kind {
		case "Workload":
			var o kueue.Workload
			_ = json.Unmarshal(raw, &o)
			wls = append(wls, o)
		case "ClusterQueue":
			o := &kueue.ClusterQueue{}
			_ = json.Unmarshal(raw, o)
			cqs = append(cqs, o)
		case "Cohort":
			o := &kueue.Cohort{}
			_ = json.Unmarshal(raw, o)
			cohorts = append(cohorts, o)
		case "ResourceFlavor":
			o := &kueue.ResourceFlavor{}
			_ = json.Unmarshal(raw, o)
			flavors = append(flavors, o)
		default:
			t.Fatalf("kind %s", m.Kind)
		}
	}
	cl := utiltesting.NewClientBuilder().WithLists(&kueue.WorkloadList{Items: wls}).WithStatusSubresource(&kueue.Workload{}).Build()
	cache := schdcache.New(cl)
	for _, f := range flavors {
		cache.AddOrUpdateResourceFlavor(log, f)
	}
	for _, q := range cqs {
		if err := cache.AddClusterQueue(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range cohorts {
		if err := cache.AddOrUpdateCohort(o); err != nil {
			t.Fatal(err)
		}
	}
	var fair *config.FairSharing
	if c.Config.FairSharing.Enable {
		fair = &config.FairSharing{PreemptionStrategies: c.Config.FairSharing.PreemptionStrategies}
	}
	preemptor := New(cl, workload.Ordering{}, &utiltesting.EventRecorder{}, fair, false, clocktesting.NewFakeClock(c.Now), nil, preemptexpectations.New(), nil)
	snapshot, err := cache.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	info := workload.NewInfo(&c.Input.Incoming)
	info.ClusterQueue = c.Input.ClusterQueue
	out := []preemptionTarget{}
	for _, v := range preemptor.GetTargets(ctx, *info, preemptionAssignment(c), snapshot) {
		out = append(out, preemptionTarget{string(v.WorkloadInfo.Obj.Namespace + "/" + v.WorkloadInfo.Obj.Name), v.Reason, string(v.WorkloadInfo.ClusterQueue)})
	}
	sort.Slice(out, func(i, k int) bool { return out[i].Key < out[k].Key })
	return out
}

func TestPreemptionOracle(t *testing.T) {
	answers.Write(t, func(t *testing.T, c *preemptionCase) map[string]any {
		targets := preemptionAsk(t, c)
		return map[string]any{"targets": targets, "count": len(targets)}
	})
}
