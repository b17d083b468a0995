// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Has Kueue assign flavors in cases of the suite flavors and writes down what it assigned. To be copied into
// pkg/scheduler/flavorassigner of a checkout of Kueue.
package flavorassigner

import (
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/featuregate"

	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	"sigs.k8s.io/kueue/pkg/util/answers"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	"sigs.k8s.io/kueue/pkg/workload"
)

type flavorsProspect struct {
	Flavor         kueue.ResourceFlavorReference `json:"flavor"`
	Resource       corev1.ResourceName           `json:"resource"`
	Possibility    string                        `json:"possibility"`
	BorrowingAfter int                           `json:"borrowingAfter"`
}

type flavorsCase struct {
	FeatureGates map[string]bool `json:"featureGates"`
	Config       struct {
		FairSharing struct {
			Enable bool `json:"enable"`
		} `json:"fairSharing"`
	} `json:"config"`
	Objects []json.RawMessage `json:"objects"`
	Input   struct {
		ClusterQueue     kueue.ClusterQueueReference                                                                     `json:"clusterQueue"`
		PodSets          []kueue.PodSet                                                                                  `json:"podSets"`
		ReclaimablePods  []kueue.ReclaimablePod                                                                          `json:"reclaimablePods"`
		Usage            map[kueue.ClusterQueueReference]map[kueue.ResourceFlavorReference]map[corev1.ResourceName]int64 `json:"usage"`
		PreemptionOracle struct {
			Default flavorsProspect   `json:"default"`
			Results []flavorsProspect `json:"results"`
		} `json:"preemptionOracle"`
	} `json:"input"`
}

type flavorsStub struct{ c *flavorsCase }

func (f *flavorsStub) SimulatePreemption(_ context.Context, _ *schdcache.ClusterQueueSnapshot, _ workload.Info, fr resources.FlavorResource, _ resources.Amount) (preemptioncommon.PreemptionPossibility, int) {
	possibilities := map[string]preemptioncommon.PreemptionPossibility{"NoCandidates": preemptioncommon.NoCandidates, "Preempt": preemptioncommon.Preempt, "Reclaim": preemptioncommon.Reclaim}
	answer := f.c.Input.PreemptionOracle.Default
	for _, r := range f.c.Input.PreemptionOracle.Results {
		if r.Flavor == fr.Flavor && r.Resource == fr.Resource {
			answer = r
		}
	}
	return possibilities[answer.Possibility], answer.BorrowingAfter
}

func flavorsAnswer(a *Assignment) map[string]any {
	usage := map[string]map[string]int64{}
	for fr, v := range a.Usage.Quota.Assigned {
		if usage[string(fr.Flavor)] == nil {
			usage[string(fr.Flavor)] = map[string]int64{}
		}
		usage[string(fr.Flavor)][string(fr.Resource)] = v.Int64()
	}
	sets := []map[string]any{}
	for i := range a.PodSets {
		ps := &a.PodSets[i]
		flavors := map[string]any{}
		for r, f := range ps.Flavors {
			flavors[string(r)] = map[string]any{"name": f.Name, "mode": f.Mode.String(), "triedFlavorIdx": f.TriedFlavorIdx, "borrow": f.borrow}
		}
		attempts := []map[string]any{}
		for _, t := range ps.FlavorAssignmentAttempts {
			attempt := map[string]any{"flavor": t.Flavor, "mode": t.Mode.String(), "borrow": t.Borrow, "noFitReason": t.NoFitReason}
			if len(t.Reasons) > 0 {
				attempt["reasonCount"] = len(t.Reasons)
			}
			if t.PreemptionPossibility != nil {
				attempt["preemptionPossibility"] = t.PreemptionPossibility.String()
			}
			attempts = append(attempts, attempt)
		}
		set := map[string]any{"name": ps.Name, "count": ps.Count, "mode": ps.RepresentativeMode().String(), "requests": ps.Requests, "flavors": flavors, "attempts": attempts}
		if len(ps.Status.reasons) > 0 {
			set["reasonCount"] = len(ps.Status.reasons)
		}
		if ps.Status.err != nil {
			set["error"] = true
		}
		sets = append(sets, set)
	}
	return map[string]any{"representativeMode": a.RepresentativeMode().String(), "borrowing": a.Borrowing, "usage": usage, "noFitReason": a.NoFitReason,
		"podSets": sets, "lastTriedFlavorIdx": a.LastState.LastTriedFlavorIdx}
}

func flavorsAsk(t *testing.T, c *flavorsCase) map[string]any {
	ctx, log := utiltesting.ContextWithLog(t)
	gates := map[featuregate.Feature]bool{}
	for k, v := range c.FeatureGates {
		gates[featuregate.Feature(k)] = v
	}
	features.SetFeatureGatesDuringTest(t, gates)
	cache := schdcache.New(utiltesting.NewFakeClient())
	flavors := map[kueue.ResourceFlavorReference]*kueue.ResourceFlavor{}
	for _, raw := range c.Objects {
		var m metav1.TypeMeta
		_ = json.Unmarshal(raw, &m)
		switch m.Kind {
		case "ResourceFlavor":
			o := &kueue.ResourceFlavor{}
			_ = json.Unmarshal(raw, o)
			cache.AddOrUpdateResourceFlavor(log, o)
			flavors[kueue.ResourceFlavorReference(o.Name)] = o
		case "Topology":
			o := &kueue.Topology{}
			_ = json.Unmarshal(raw, o)
			cache.AddOrUpdateTopology(log, o)
		case "ClusterQueue":
			o := &kueue.ClusterQueue{}
			_ = json.Unmarshal(raw, o)
			if err := cache.AddClusterQueue(ctx, o); err != nil {
				t.Fatal(err)
			}
		case "Cohort":
			o := &kueue.Cohort{}
			_ = json.Unmarshal(raw, o)
			if err := cache.AddOrUpdateCohort(o); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("kind %s", m.Kind)
		}
	}
	snapshot, err := cache.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name, used := range c.Input.Usage {
		amounts := resources.FlavorResourceQuantities{}
		for f, rs := range used {
			for r, v := range rs {
				amounts[resources.FlavorResource{Flavor: f, Resource: r}] = resources.NewAmount(v)
			}
		}
		snapshot.ClusterQueue(name).AddUsage(workload.Usage{Quota: workload.ResourceUsage{Assigned: amounts}})
	}
	info := workload.NewInfo(&kueue.Workload{Spec: kueue.WorkloadSpec{PodSets: c.Input.PodSets}, Status: kueue.WorkloadStatus{ReclaimablePods: c.Input.ReclaimablePods}})
	info.ClusterQueue = c.Input.ClusterQueue
	a := New(info, snapshot.ClusterQueue(c.Input.ClusterQueue), flavors, c.Config.FairSharing.Enable, &flavorsStub{c}, nil,
		configapi.QuotaCheckBlockUndeclared, resources.NewResourceFormatter(), 0).Assign(ctx, nil)
	return flavorsAnswer(&a)
}

func TestFlavorsOracle(t *testing.T) {
	answers.Write(t, flavorsAsk)
}
