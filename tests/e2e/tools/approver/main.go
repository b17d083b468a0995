// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Command approver is the controller of an admission check, as a user writes one with controller-runtime: a manager with
// a cache, controllers that watch, patches of statuses, events, and a Lease for the one of several that acts.
//
// usage: approver --kubeconfig FILE|--server URL --controller NAME [--lead NAMESPACE/NAME] [--apply]
//
// It makes its AdmissionChecks active, and says Ready for every Workload with quota that has one of them. With --apply it
// writes by server-side apply, else by merge patches that a conflict stops. It prints "leads" when it begins, and for each
// line read from standard input one line of JSON: what differs between the cache and the server (nothing, unless the two
// stay apart for 10 s), of Workloads, and of Jobs whose metadata alone is watched.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	patience  = 10 * time.Second
	byCheck   = "checks-that-wait" // an index of the cache
	signature = "example.com/approved-by"
)

var group = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta2"}

func object(kind string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(group.WithKind(kind))
	return o
}

func list(kind string) *unstructured.UnstructuredList {
	o := &unstructured.UnstructuredList{}
	o.SetGroupVersionKind(group.WithKind(kind + "List"))
	return o
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// entries of a list of maps at a path.
func entries(o *unstructured.Unstructured, path ...string) []map[string]any {
	found, _, _ := unstructured.NestedSlice(o.Object, path...)
	maps := []map[string]any{}
	for _, f := range found {
		if m, is := f.(map[string]any); is {
			maps = append(maps, m)
		}
	}
	return maps
}

func holds(o *unstructured.Unstructured, kind string) bool {
	for _, c := range entries(o, "status", "conditions") {
		if c["type"] == kind {
			return c["status"] == "True"
		}
	}
	return false
}

// waiting: the names of a Workload's checks that nobody has answered yet.
func waiting(o client.Object) []string {
	names := []string{}
	for _, c := range entries(o.(*unstructured.Unstructured), "status", "admissionChecks") {
		if c["state"] == "Pending" {
			names = append(names, c["name"].(string))
		}
	}
	return names
}

type approver struct {
	client.Client
	controller string
	identity   string
	apply      bool
	recorder   events.EventRecorder
}

// checks makes one of ours active.
func (a *approver) checks(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	check := object("AdmissionCheck")
	if err := a.Get(ctx, r.NamespacedName, check); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if name, _, _ := unstructured.NestedString(check.Object, "spec", "controllerName"); name != a.controller || holds(check, "Active") {
		return reconcile.Result{}, nil
	}
	before := check.DeepCopy()
	condition := map[string]any{"type": "Active", "status": "True", "reason": "Active", "message": a.identity,
		"lastTransitionTime": now(), "observedGeneration": check.GetGeneration()}
	if err := unstructured.SetNestedSlice(check.Object, []any{condition}, "status", "conditions"); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, a.Status().Patch(ctx, check, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// ours among the checks of a Workload that wait.
func (a *approver) ours(ctx context.Context, w *unstructured.Unstructured) ([]string, error) {
	names := []string{}
	for _, name := range waiting(w) {
		check := object("AdmissionCheck")
		if err := a.Get(ctx, client.ObjectKey{Name: name}, check); client.IgnoreNotFound(err) != nil {
			return nil, err
		} else if controller, _, _ := unstructured.NestedString(check.Object, "spec", "controllerName"); err == nil && controller == a.controller {
			names = append(names, name)
		}
	}
	return names, nil
}

func (a *approver) workloads(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	w := object("Workload")
	if err := a.Get(ctx, r.NamespacedName, w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	names, err := a.ours(ctx, w)
	if err != nil || len(names) == 0 || !holds(w, "QuotaReserved") {
		return reconcile.Result{}, err
	}
	for _, name := range names {
		if a.apply {
			err = a.applied(ctx, w, name)
		} else {
			err = a.patched(ctx, w, name)
		}
		if err != nil {
			return reconcile.Result{}, err
		}
		a.recorder.Eventf(w, nil, corev1.EventTypeNormal, "Approved", "Approve", "%s approves of %s", a.identity, name)
	}
	return reconcile.Result{}, nil
}

func ready(name, by string) map[string]any {
	return map[string]any{"name": name, "state": "Ready", "message": "approved by " + by, "lastTransitionTime": now()}
}

// applied says Ready by server-side apply, of what is ours alone.
func (a *approver) applied(ctx context.Context, w *unstructured.Unstructured, name string) error {
	owner := client.FieldOwner(a.controller)
	sign := object("Workload")
	sign.SetName(w.GetName())
	sign.SetNamespace(w.GetNamespace())
	sign.SetAnnotations(map[string]string{signature: a.identity})
	if err := a.Apply(ctx, client.ApplyConfigurationFromUnstructured(sign), owner, client.ForceOwnership); err != nil {
		return err
	}
	say := object("Workload")
	say.SetName(w.GetName())
	say.SetNamespace(w.GetNamespace())
	if err := unstructured.SetNestedSlice(say.Object, []any{ready(name, a.identity)}, "status", "admissionChecks"); err != nil {
		return err
	}
	return a.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(say), owner, client.ForceOwnership)
}

// patched says Ready by patches, of which the second fails if another has written since.
func (a *approver) patched(ctx context.Context, w *unstructured.Unstructured, name string) error {
	before := w.DeepCopy()
	w.SetAnnotations(map[string]string{signature: a.identity})
	if err := a.Patch(ctx, w, client.MergeFrom(before)); err != nil {
		return err
	}
	before = w.DeepCopy()
	states := []any{}
	for _, c := range entries(w, "status", "admissionChecks") {
		if c["name"] == name {
			c = ready(name, a.identity)
		}
		states = append(states, c)
	}
	if err := unstructured.SetNestedSlice(w.Object, states, "status", "admissionChecks"); err != nil {
		return err
	}
	return a.Status().Patch(ctx, w, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// ofJob: the Workloads whose controller is a Job that has changed.
func (a *approver) ofJob(ctx context.Context, job client.Object) []reconcile.Request {
	all := list("Workload")
	if err := a.List(ctx, all, client.InNamespace(job.GetNamespace())); err != nil {
		log.Print(err)
	}
	requests := []reconcile.Request{}
	for i := range all.Items {
		if metav1.IsControlledBy(&all.Items[i], job) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
		}
	}
	return requests
}

// ofCheck: the Workloads that wait for a check, by the cache's index.
func (a *approver) ofCheck(ctx context.Context, check client.Object) []reconcile.Request {
	all := list("Workload")
	if err := a.List(ctx, all, client.MatchingFields{byCheck: check.GetName()}); err != nil {
		log.Print(err)
	}
	requests := []reconcile.Request{}
	for i := range all.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
	}
	return requests
}

func (a *approver) watch(m ctrl.Manager) error {
	if err := m.GetFieldIndexer().IndexField(context.Background(), object("Workload"), byCheck, waiting); err != nil {
		return err
	}
	if err := ctrl.NewControllerManagedBy(m).Named("checks").For(object("AdmissionCheck")).Complete(reconcile.Func(a.checks)); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(m).Named("workloads").For(object("Workload")).
		Watches(object("AdmissionCheck"), handler.EnqueueRequestsFromMapFunc(a.ofCheck)).
		WatchesMetadata(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(a.ofJob)).
		Complete(reconcile.Func(a.workloads))
}

// --- The cache and the server ----------------------------------------------------------------------------------------

func jobs() *metav1.PartialObjectMetadataList {
	o := &metav1.PartialObjectMetadataList{}
	o.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("JobList"))
	return o
}

// seen: what a reader has, by kind and name.
func seen(ctx context.Context, r client.Reader) (map[string]any, error) {
	found, workloads, metadata := map[string]any{}, list("Workload"), jobs()
	if err := r.List(ctx, workloads); err != nil {
		return nil, err
	}
	if err := r.List(ctx, metadata); err != nil {
		return nil, err
	}
	for _, w := range workloads.Items {
		found["Workload "+w.GetNamespace()+"/"+w.GetName()] = w.Object
	}
	for _, j := range metadata.Items {
		found["Job "+j.GetNamespace()+"/"+j.GetName()] = j.ObjectMeta
	}
	return found, nil
}

func differences(ctx context.Context, cache, server client.Reader) []string {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		differ := []string{}
		cached, err := seen(ctx, cache)
		if err != nil {
			return []string{err.Error()}
		}
		served, err := seen(ctx, server)
		if err != nil {
			return []string{err.Error()}
		}
		for key := range served {
			if !reflect.DeepEqual(cached[key], served[key]) {
				differ = append(differ, fmt.Sprintf("%s: cached %v, served %v", key, cached[key], served[key]))
			}
		}
		for key := range cached {
			if served[key] == nil {
				differ = append(differ, key+": cached, not served")
			}
		}
		if len(differ) == 0 || time.Now().After(end) {
			return differ
		}
	}
}

func compare(ctx context.Context, m ctrl.Manager) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if err := json.NewEncoder(os.Stdout).Encode(differences(ctx, m.GetClient(), m.GetAPIReader())); err != nil {
			log.Fatal(err)
		}
	}
}

func pointer[T any](v T) *T { return &v }

func options(lead string) ctrl.Options {
	o := ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}}}
	if namespace, name, is := strings.Cut(lead, "/"); is {
		o.LeaderElection, o.LeaderElectionNamespace, o.LeaderElectionID = true, namespace, name
		o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = pointer(3*time.Second), pointer(2*time.Second), pointer(500*time.Millisecond)
	}
	return o
}

func main() {
	server := flag.String("server", "", "the server's URL, when no kubeconfig is needed")
	controller := flag.String("controller", "example.com/approver", "spec.controllerName of its checks")
	identity := flag.String("identity", "approver", "how it signs")
	lead := flag.String("lead", "", "NAMESPACE/NAME of the Lease of the one that acts")
	apply := flag.Bool("apply", false, "write by server-side apply")
	flag.Parse() // --kubeconfig is controller-runtime's own
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags(*server, flag.Lookup("kubeconfig").Value.String())
	if err != nil {
		log.Fatal(err)
	}
	m, err := ctrl.NewManager(config, options(*lead))
	if err != nil {
		log.Fatal(err)
	}
	a := &approver{m.GetClient(), *controller, *identity, *apply, m.GetEventRecorder("approver")}
	if err := a.watch(m); err != nil {
		log.Fatal(err)
	}
	ctx := ctrl.SetupSignalHandler()
	go func() {
		<-m.Elected()
		fmt.Println("leads")
		compare(ctx, m)
	}()
	if err := m.Start(ctx); err != nil {
		log.Fatal(err)
	}
}
