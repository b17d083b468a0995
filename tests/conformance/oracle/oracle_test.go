// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Plays cases of the conformance corpus (README.md beside this file) with Kueue's own scheduler and writes down
// what came of them. To be copied into pkg/scheduler of a checkout of Kueue.
package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/featuregate"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	tasindexer "sigs.k8s.io/kueue/pkg/controller/tas/indexer"
	"sigs.k8s.io/kueue/pkg/features"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/answers"
	utilqueue "sigs.k8s.io/kueue/pkg/util/queue"
	"sigs.k8s.io/kueue/pkg/util/routine"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	"sigs.k8s.io/kueue/pkg/workload"
)

type oracleCase struct {
	ID           string            `json:"id"`
	Now          time.Time         `json:"now"`
	FeatureGates map[string]bool   `json:"featureGates"`
	Config       oracleConfig      `json:"config"`
	Objects      []json.RawMessage `json:"objects"`
	Run          oracleRun         `json:"run"`
}
type oracleConfig struct {
	FairSharing *struct {
		Enable               bool     `json:"enable"`
		PreemptionStrategies []string `json:"preemptionStrategies"`
	} `json:"fairSharing"`
	AdmissionFairSharing *config.AdmissionFairSharing `json:"admissionFairSharing"`
}
type oracleRun struct {
	Cycles          int                            `json:"cycles"`
	StepSeconds     *int                           `json:"stepSeconds"`
	DeliverUpdates  *bool                          `json:"deliverUpdates"`
	FinishEvictions bool                           `json:"finishEvictions"`
	SecondPass      []string                       `json:"secondPass"`
	InitialUsage    map[string]corev1.ResourceList `json:"initialLocalQueueUsage"`
}
type oracleKey struct {
	Key    string `json:"key"`
	Reason string `json:"reason,omitempty"`
	Type   string `json:"type,omitempty"`
}
type oracleCycle struct {
	Now              string              `json:"now,omitempty"`
	HadHeads         *bool               `json:"hadHeads,omitempty"`
	QuotaReserved    []string            `json:"quotaReserved,omitempty"`
	Preempted        []oracleKey         `json:"preempted"`
	Evicted          []oracleKey         `json:"evicted"`
	Left             map[string][]string `json:"left"`
	InadmissibleLeft map[string][]string `json:"inadmissibleLeft"`
	Events           []oracleKey         `json:"events"`
}
type oracleWorkload struct {
	APIVersion string               `json:"apiVersion"`
	Kind       string               `json:"kind"`
	Metadata   map[string]string    `json:"metadata"`
	Status     kueue.WorkloadStatus `json:"status"`
}
type oracleExpect struct {
	oracleCycle
	Assignments map[string]kueue.Admission             `json:"assignments"`
	Cycles      []oracleCycle                          `json:"cycles,omitempty"`
	Usage       map[string]map[string]map[string]int64 `json:"usage"`
	Workloads   []oracleWorkload                       `json:"workloads"`
}

func oracleDump(d map[kueue.ClusterQueueReference][]workload.Reference) map[string][]string {
	out := map[string][]string{}
	for q, keys := range d {
		var l []string
		for _, k := range keys {
			l = append(l, string(k))
		}
		sort.Strings(l)
		if len(l) > 0 {
			out[string(q)] = l
		}
	}
	return out
}

func oracleIsTrue(w *kueue.Workload, t string) bool {
	return apimeta.IsStatusConditionTrue(w.Status.Conditions, t)
}

func oraclePlay(t *testing.T, c *oracleCase) *oracleExpect {
	gates := map[featuregate.Feature]bool{}
	for k, v := range c.FeatureGates {
		gates[featuregate.Feature(k)] = v
	}
	features.SetFeatureGatesDuringTest(t, gates)
	ctx, log := utiltesting.ContextWithLog(t)
	var wls []kueue.Workload
	var lqs []kueue.LocalQueue
	var cqs []kueue.ClusterQueue
	var cohorts []kueue.Cohort
	var flavors []kueue.ResourceFlavor
	var topologies []kueue.Topology
	var checks []kueue.AdmissionCheck
	var nodes []corev1.Node
	var pods []corev1.Pod
	var namespaces []client.Object
	for _, raw := range c.Objects {
		var m metav1.TypeMeta
		_ = json.Unmarshal(raw, &m)
		switch m.Kind {
		case "Workload":
			var o kueue.Workload
			_ = json.Unmarshal(raw, &o)
			wls = append(wls, o)
		case "LocalQueue":
			var o kueue.LocalQueue
			_ = json.Unmarshal(raw, &o)
			lqs = append(lqs, o)
		case "ClusterQueue":
			var o kueue.ClusterQueue
			_ = json.Unmarshal(raw, &o)
			cqs = append(cqs, o)
		case "Cohort":
			var o kueue.Cohort
			_ = json.Unmarshal(raw, &o)
			cohorts = append(cohorts, o)
		case "ResourceFlavor":
			var o kueue.ResourceFlavor
			_ = json.Unmarshal(raw, &o)
			flavors = append(flavors, o)
		case "Topology":
			var o kueue.Topology
			_ = json.Unmarshal(raw, &o)
			topologies = append(topologies, o)
		case "AdmissionCheck":
			var o kueue.AdmissionCheck
			_ = json.Unmarshal(raw, &o)
			checks = append(checks, o)
		case "Node":
			var o corev1.Node
			_ = json.Unmarshal(raw, &o)
			nodes = append(nodes, o)
		case "Pod":
			var o corev1.Pod
			_ = json.Unmarshal(raw, &o)
			pods = append(pods, o)
		case "Namespace":
			o := &corev1.Namespace{}
			_ = json.Unmarshal(raw, o)
			namespaces = append(namespaces, o)
		default:
			t.Fatalf("kind %s", m.Kind)
		}
	}
	builder := utiltesting.NewClientBuilder().
		WithLists(&kueue.AdmissionCheckList{Items: checks}, &kueue.WorkloadList{Items: wls}, &kueue.TopologyList{Items: topologies},
			&corev1.PodList{Items: pods}, &corev1.NodeList{Items: nodes}, &kueue.LocalQueueList{Items: lqs}).
		WithObjects(namespaces...).
		WithStatusSubresource(&kueue.Workload{}, &kueue.ClusterQueue{}, &kueue.LocalQueue{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, cl client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				w, ok := obj.(*kueue.Workload)
				if !ok || sub != "status" || patch.Type() != types.ApplyPatchType {
					return utiltesting.TreatSSAAsStrategicMerge(ctx, cl, sub, obj, patch, opts...)
				}
				data, err := patch.Data(obj)
				if err != nil {
					return err
				}
				var given kueue.Workload
				if err := json.Unmarshal(data, &given); err != nil {
					return err
				}
				var stored kueue.Workload
				if err := cl.Get(ctx, client.ObjectKeyFromObject(w), &stored); err != nil {
					return err
				}
				stored.Status = given.Status
				if err := cl.Status().Update(ctx, &stored); err != nil {
					return err
				}
				stored.DeepCopyInto(w)
				return nil
			},
		})
	_ = tasindexer.SetupIndexes(ctx, utiltesting.AsIndexer(builder))
	cl := builder.Build()
	recorder := &utiltesting.EventRecorder{}
	clock := testingclock.NewFakeClock(c.Now)
	expected := preemptexpectations.New()
	var copts []schdcache.Option
	fairOn := c.Config.FairSharing != nil && c.Config.FairSharing.Enable
	afs := c.Config.AdmissionFairSharing
	copts = append(copts, schdcache.WithFairSharing(fairOn), schdcache.WithAdmissionFairSharing(afs))
	cache := schdcache.New(cl, copts...)
	queues, requeuer := qcache.NewManagerForUnitTestsWithRequeuer(cl, cache, qcache.WithClock(clock),
		qcache.WithPreemptionExpectations(expected), qcache.WithAdmissionFairSharing(afs))
	for name, used := range c.Run.InitialUsage {
		queues.AfsUsageLedger.SetForTest(utilqueue.LocalQueueReference("default/"+name), used, clock.Now())
	}
	for i := range nodes {
		cache.TASCache().SyncNode(&nodes[i])
	}
	for i := range checks {
		cache.AddOrUpdateAdmissionCheck(log, &checks[i])
	}
	for i := range flavors {
		cache.AddOrUpdateResourceFlavor(log, &flavors[i])
	}
	for i := range topologies {
		cache.AddOrUpdateTopology(log, &topologies[i])
	}
	for i := range cohorts {
		if err := cache.AddOrUpdateCohort(&cohorts[i]); err != nil {
			t.Fatalf("cohort: %v", err)
		}
		queues.AddOrUpdateCohort(ctx, &cohorts[i])
	}
	for i := range cqs {
		if err := cache.AddClusterQueue(ctx, &cqs[i]); err != nil {
			t.Fatalf("cq: %v", err)
		}
		if err := queues.AddClusterQueue(ctx, &cqs[i]); err != nil {
			t.Fatalf("cq: %v", err)
		}
		cq := cqs[i].DeepCopy()
		if err := cl.Create(ctx, cq); err != nil {
			t.Fatalf("cq: %v", err)
		}
	}
	for i := range lqs {
		if err := queues.AddLocalQueue(ctx, &lqs[i]); err != nil {
			t.Fatalf("lq: %v", err)
		}
	}
	for i := range pods {
		cache.TASCache().UpdateNonTASUsage(&pods[i], log)
	}
	second := sets.New(c.Run.SecondPass...)
	for i := range wls {
		if workload.HasQuotaReservation(&wls[i]) {
			cache.AddOrUpdateWorkload(log, &wls[i])
		}
	}
	for i := range wls {
		if second.Has(wls[i].Namespace + "/" + wls[i].Name) {
			queues.QueueSecondPassIfNeeded(ctx, &wls[i], 0)
		}
	}
	if len(second) > 0 {
		clock.Step(time.Second)
		time.Sleep(5 * time.Millisecond)
		clock.SetTime(c.Now)
	}
	var fair *config.FairSharing
	if fairOn {
		fair = &config.FairSharing{}
		for _, s := range c.Config.FairSharing.PreemptionStrategies {
			fair.PreemptionStrategies = append(fair.PreemptionStrategies, config.PreemptionStrategy(s))
		}
	}
	sched := New(queues, cache, cl, recorder, WithFairSharing(fair), WithAdmissionFairSharing(afs), WithClock(t, clock), WithPreemptionExpectations(expected))
	wg := sync.WaitGroup{}
	sched.setAdmissionRoutineWrapper(routine.NewWrapper(func() { wg.Add(1) }, func() { wg.Done() }))

	out := &oracleExpect{Assignments: map[string]kueue.Admission{}, Usage: map[string]map[string]map[string]int64{}}
	list := func() map[string]*kueue.Workload {
		var l kueue.WorkloadList
		if err := cl.List(ctx, &l); err != nil {
			t.Fatal(err)
		}
		m := map[string]*kueue.Workload{}
		for i := range l.Items {
			m[l.Items[i].Namespace+"/"+l.Items[i].Name] = &l.Items[i]
		}
		return m
	}
	before := list()
	step := 1
	if c.Run.StepSeconds != nil {
		step = *c.Run.StepSeconds
	}
	deliver := c.Run.DeliverUpdates == nil || *c.Run.DeliverUpdates
	var last oracleCycle
	for n := 0; n < c.Run.Cycles; n++ {
		if n > 0 {
			clock.Step(time.Duration(step) * time.Second)
		}
		if n > 0 && deliver {
			now := list()
			keys := make([]string, 0, len(now))
			for k := range now {
				keys = append(keys, k)
			}
			sort.Strings(keys)
			retry := sets.New[kueue.ClusterQueueReference]()
			for _, k := range keys {
				w := now[k]
				if c.Run.FinishEvictions && oracleIsTrue(w, kueue.WorkloadEvicted) && oracleIsTrue(w, kueue.WorkloadQuotaReserved) {
					cq := w.Status.Admission.ClusterQueue
					oracleStopJob(w, clock.Now())
					if err := cl.Status().Update(ctx, w); err != nil {
						t.Fatal(err)
					}
					if err := cache.DeleteWorkload(log, workload.Key(w)); err != nil {
						t.Fatal(err)
					}
					_ = queues.AddOrUpdateWorkload(log, w)
					retry.Insert(cq)
				} else if old := before[k]; old == nil || !oracleUnchanged(old, w) {
					if workload.HasQuotaReservation(w) {
						queues.DeleteWorkload(log, workload.Key(w))
						cache.AddOrUpdateWorkload(log, w)
					} else {
						_ = queues.AddOrUpdateWorkload(log, w)
					}
				}
			}
			if len(retry) > 0 {
				qcache.NotifyRetryInadmissible(queues, retry)
			}
			requeuer.ProcessRequeues(ctx)
		}
		before = list()
		recorder.RecordedEvents = nil
		dump := queues.Dump()
		had := len(dump) > 0 || (n == 0 && len(second) > 0)
		wait := 20 * time.Millisecond // no head comes: a scheduler that waits for one is to stop
		if len(second) > 0 {
			wait = 300 * time.Millisecond
		}
		for q := range dump {
			if cache.ClusterQueueActive(q) {
				wait = 3 * time.Second
			}
		}
		cctx, cancel := context.WithTimeout(ctx, wait)
		go queues.CleanUpOnContext(cctx)
		sched.schedule(cctx)
		wg.Wait()
		cancel()
		now := list()
		cy := oracleCycle{Now: clock.Now().UTC().Format(time.RFC3339), HadHeads: &had, Preempted: []oracleKey{}, Evicted: []oracleKey{}, Events: []oracleKey{}, QuotaReserved: []string{},
			Left: oracleDump(queues.Dump()), InadmissibleLeft: oracleDump(queues.DumpInadmissible())}
		for _, e := range recorder.RecordedEvents {
			cy.Events = append(cy.Events, oracleKey{Key: e.Key.String(), Type: e.EventType, Reason: e.Reason})
		}
		for k, w := range now {
			o := before[k]
			for _, p := range []struct {
				t string
				l *[]oracleKey
			}{{kueue.WorkloadPreempted, &cy.Preempted}, {kueue.WorkloadEvicted, &cy.Evicted}} {
				if oracleIsTrue(w, p.t) && !oracleIsTrue(o, p.t) {
					*p.l = append(*p.l, oracleKey{Key: k, Reason: apimeta.FindStatusCondition(w.Status.Conditions, p.t).Reason})
				}
			}
			if oracleIsTrue(w, kueue.WorkloadQuotaReserved) && !oracleIsTrue(o, kueue.WorkloadQuotaReserved) {
				cy.QuotaReserved = append(cy.QuotaReserved, k)
			}
		}
		sort.Strings(cy.QuotaReserved)
		out.Cycles = append(out.Cycles, cy)
		out.Events = append(out.Events, cy.Events...)
		out.Preempted = append(out.Preempted, cy.Preempted...)
		out.Evicted = append(out.Evicted, cy.Evicted...)
		last = cy
	}
	out.Left, out.InadmissibleLeft = last.Left, last.InadmissibleLeft
	if c.Run.Cycles == 1 {
		out.Cycles = nil
	}
	snap, err := cache.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range snap.ClusterQueues() {
		for key, w := range q.Workloads {
			out.Assignments[string(key)] = *w.Obj.Status.Admission
		}
		for fr, amount := range q.ResourceNode.Usage {
			if amount.Int64() == 0 {
				continue
			}
			f := out.Usage[string(name)]
			if f == nil {
				f = map[string]map[string]int64{}
				out.Usage[string(name)] = f
			}
			if f[string(fr.Flavor)] == nil {
				f[string(fr.Flavor)] = map[string]int64{}
			}
			f[string(fr.Flavor)][string(fr.Resource)] = amount.Int64()
		}
	}
	final := list()
	keys := make([]string, 0)
	for k := range final {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		w := final[k]
		slices.SortFunc(w.Status.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
		out.Workloads = append(out.Workloads, oracleWorkload{"kueue.x-k8s.io/v1beta2", "Workload", map[string]string{"name": w.Name, "namespace": w.Namespace}, w.Status})
	}
	return out
}

func oracleUnchanged(a, b *kueue.Workload) bool { return a.ResourceVersion == b.ResourceVersion }

func oracleStopJob(w *kueue.Workload, now time.Time) {
	ev := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	set := func(t string, s metav1.ConditionStatus, reason string) {
		apimeta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: t, Status: s, Reason: reason, ObservedGeneration: w.Generation, LastTransitionTime: metav1.NewTime(now), Message: reason})
	}
	requeued := metav1.ConditionFalse
	if ev.Reason == "Preempted" || ev.Reason == "NodeFailures" {
		requeued = metav1.ConditionTrue
	}
	if ad := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadAdmitted); ad != nil && ad.Status == metav1.ConditionTrue {
		past := int32(0)
		if w.Status.AccumulatedPastExecutionTimeSeconds != nil {
			past = *w.Status.AccumulatedPastExecutionTimeSeconds
		}
		past += int32(now.Sub(ad.LastTransitionTime.Time).Seconds())
		w.Status.AccumulatedPastExecutionTimeSeconds = &past
	}
	set(kueue.WorkloadRequeued, requeued, ev.Reason)
	reason := "PendingEvaluation"
	if !features.Enabled(features.UnadmittedWorkloadsObservability) {
		reason = "Pending"
	}
	set(kueue.WorkloadQuotaReserved, metav1.ConditionFalse, reason)
	set(kueue.WorkloadAdmitted, metav1.ConditionFalse, "NoReservation")
	w.Status.Admission = nil
}

func TestOracle(t *testing.T) {
	answers.Write(t, func(t *testing.T, c *oracleCase) *oracleExpect {
		e := oraclePlay(t, c)
		fmt.Fprint(os.Stderr, ".")
		return e
	})
}
