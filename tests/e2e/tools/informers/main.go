// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Command informers holds client-go's shared informers open on a server, as any controller of the users' would, and
// tells on demand whether what they believe is what the server has.
//
// usage: informers --kubeconfig FILE|--server URL [--resync DURATION] RESOURCE.VERSION.GROUP...
//
// It prints "synced" when every store is filled. For each line read from standard input it prints one line of JSON:
// per resource what was seen, and what differs from a fresh list (nothing, unless the two stay apart for 10 s). Two
// things are compared with the list: the informer's store, and what a handler that only adds, updates and deletes
// has made of its events; an event that does not fit what came before it is a fault.
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
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const patience = 10 * time.Second

// resource is one informer with what was counted about it. Fields in capitals are printed.
type resource struct {
	mutex    sync.Mutex
	client   dynamic.NamespaceableResourceInterface
	informer cache.SharedIndexInformer
	mirror   map[string]string // key: resourceVersion, by events alone

	Lists, Watches, Bookmarks       int
	Adds, Updates, Resyncs, Deletes int
	Faults, WatchErrors, Differ     []string
	Stored                          int
}

func (r *resource) count(change func()) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	change()
}

func (r *resource) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	r.count(func() { r.Lists++ })
	return r.client.List(ctx, o)
}

func (r *resource) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	r.count(func() { r.Watches++ })
	w, err := r.client.Watch(ctx, o)
	if err != nil {
		r.refused(err)
		return nil, err
	}
	return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		switch e.Type {
		case watch.Bookmark:
			r.count(func() { r.Bookmarks++ })
		case watch.Error:
			r.refused(apierrors.FromObject(e.Object))
		}
		return e, true
	}), nil
}

// refused notes an error that the server sent; that there is no server for a while is none.
func (r *resource) refused(err error) {
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		r.count(func() { r.WatchErrors = append(r.WatchErrors, err.Error()) })
	}
}

func identity(object any) (key, version string) {
	if gone, is := object.(cache.DeletedFinalStateUnknown); is {
		object = gone.Obj
	}
	m, err := meta.Accessor(object)
	if err != nil {
		log.Fatal(err)
	}
	return m.GetNamespace() + "/" + m.GetName(), m.GetResourceVersion()
}

// follow applies one event: old is what the mirror must hold before it ("" for nothing), next what it holds after.
func (r *resource) follow(what, key, old, next string) {
	if r.mirror[key] != old {
		r.Faults = append(r.Faults, fmt.Sprintf("%s of %s: from %q, but %q was seen last", what, key, old, r.mirror[key]))
	}
	r.mirror[key] = next
	if next == "" {
		delete(r.mirror, key)
	}
}

func (r *resource) OnAdd(object any, _ bool) {
	key, version := identity(object)
	r.count(func() { r.Adds++; r.follow("add", key, "", version) })
}

func (r *resource) OnUpdate(before, after any) {
	key, old := identity(before)
	_, version := identity(after)
	r.count(func() {
		if old == version {
			r.Resyncs++
		} else {
			r.Updates++
		}
		r.follow("update", key, old, version)
	})
}

func (r *resource) OnDelete(object any) {
	key, _ := identity(object)
	r.count(func() { r.Deletes++; r.follow("delete", key, r.mirror[key], "") })
}

func versions(objects []any) map[string]string {
	all := map[string]string{}
	for _, o := range objects {
		key, version := identity(o)
		all[key] = version
	}
	return all
}

// fresh asks the server for everything, by pages.
func (r *resource) fresh(ctx context.Context) (map[string]any, error) {
	all := map[string]any{}
	options := metav1.ListOptions{Limit: 100}
	for {
		page, err := r.client.List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			key, _ := identity(&page.Items[i])
			all[key] = page.Items[i].Object
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return all, nil
		}
	}
}

// differences between the server's objects and what the store and the mirror hold.
func (r *resource) differences(ctx context.Context) []string {
	listed, err := r.fresh(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	stored := map[string]any{}
	for _, o := range r.informer.GetStore().List() {
		key, _ := identity(o)
		stored[key] = o.(*unstructured.Unstructured).Object
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.Stored = len(stored)
	differ := []string{}
	for key, object := range listed {
		if !reflect.DeepEqual(object, stored[key]) {
			differ = append(differ, fmt.Sprintf("%s: listed %v, stored %v", key, object, stored[key]))
		}
	}
	for key := range stored {
		if listed[key] == nil {
			differ = append(differ, key+": stored, not listed")
		}
	}
	if seen := versions(r.informer.GetStore().List()); !reflect.DeepEqual(seen, r.mirror) {
		differ = append(differ, fmt.Sprintf("stored %v, but events said %v", seen, r.mirror))
	}
	return differ
}

func (r *resource) compare(ctx context.Context) json.RawMessage {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		differ := r.differences(ctx)
		if len(differ) == 0 || time.Now().After(end) {
			r.mutex.Lock()
			defer r.mutex.Unlock()
			r.Differ = differ
			text, err := json.Marshal(r)
			if err != nil {
				log.Fatal(err)
			}
			return text
		}
	}
}

func start(ctx context.Context, client dynamic.Interface, gvr schema.GroupVersionResource, resync time.Duration) *resource {
	r := &resource{client: client.Resource(gvr), mirror: map[string]string{}}
	source := &cache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch}
	r.informer = cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(source, client),
		&unstructured.Unstructured{}, resync, cache.Indexers{})
	if err := r.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		r.count(func() { r.WatchErrors = append(r.WatchErrors, err.Error()) })
	}); err != nil {
		log.Fatal(err)
	}
	if _, err := r.informer.AddEventHandler(r); err != nil {
		log.Fatal(err)
	}
	go r.informer.RunWithContext(ctx)
	return r
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the server")
	server := flag.String("server", "", "the server's URL, when no kubeconfig is needed")
	resync := flag.Duration("resync", time.Second, "how often handlers are told everything again")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags(*server, *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	all := map[string]*resource{}
	for _, name := range flag.Args() {
		gvr, _ := schema.ParseResourceArg(name)
		if gvr == nil {
			log.Fatalf("%s is not RESOURCE.VERSION.GROUP", name)
		}
		all[gvr.Resource] = start(ctx, client, *gvr, *resync)
	}
	for name, r := range all {
		if !cache.WaitForCacheSync(ctx.Done(), r.informer.HasSynced) {
			log.Fatalf("%s: not synced", name)
		}
	}
	fmt.Println("synced")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answers := map[string]json.RawMessage{}
		for name, r := range all {
			answers[name] = r.compare(ctx)
		}
		if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
			log.Fatal(err)
		}
	}
}
