// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Load puts queues and Workloads on an API server at the pace that a file asks for, lets admitted Workloads run
// for their time, marks them finished, and prints how long all of it took. It is a client like any other: what decides,
// Sluice or something else, only has to set the conditions Admitted and Evicted. These Workloads have no job, so that
// nobody else gives back the quota of one that was evicted.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

type tally struct {
	Workloads       int     `json:"workloads"`
	MeanToAdmission float64 `json:"meanSecondsToAdmission"`
	sum             time.Duration
}

// One Workload from creation to its end.
type life struct {
	class    *class
	created  time.Time
	admitted bool // now
	since    time.Time
	counted  bool // its time to admission
	timer    *time.Timer
	finished bool
}

type generator struct {
	creates, finishes, watches *api
	load                       *load
	floor                      bool
	mutex                      sync.Mutex
	lives                      map[string]*life
	classes                    map[string]*tally
	left                       int
	evicted                    int
	used                       float64 // CPU seconds that finished Workloads ran for
	lost                       float64 // what evicted ones had run for
	done                       chan struct{}
	finish                     chan string
	release                    chan *event
}

func (g *generator) fail(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func (g *generator) setUp(ctx context.Context) {
	if g.load.Racks > 0 {
		g.fail(g.creates.create(ctx, "/apis/kueue.x-k8s.io/v1beta2/topologies", topology()))
		for rack := range g.load.Racks {
			for i := range g.load.Nodes {
				g.fail(g.creates.create(ctx, "/api/v1/nodes", g.load.node(rack, i)))
			}
		}
	}
	g.fail(g.creates.create(ctx, "/apis/kueue.x-k8s.io/v1beta2/resourceflavors", g.load.flavor()))
}

func (g *generator) makeQueue(ctx context.Context, name, cohort string) {
	g.fail(g.creates.create(ctx, "/apis/kueue.x-k8s.io/v1beta2/clusterqueues", g.load.clusterQueue(name, cohort)))
	g.fail(g.creates.create(ctx, "/api/v1/namespaces",
		object{"apiVersion": "v1", "kind": "Namespace", "metadata": meta("", name, nil)}))
	g.fail(g.creates.create(ctx, "/apis/kueue.x-k8s.io/v1beta2/namespaces/"+name+"/localqueues", localQueue(name)))
}

func (g *generator) fill(ctx context.Context, queue string, c *class, until *sync.WaitGroup) {
	defer until.Done()
	tick := time.NewTicker(c.every())
	defer tick.Stop()
	for i := range c.Count {
		<-tick.C
		o := c.workload(queue, i)
		key := queue + "/" + o["metadata"].(object)["name"].(string)
		g.mutex.Lock()
		g.lives[key] = &life{class: c, created: time.Now()}
		g.mutex.Unlock()
		g.fail(g.creates.create(ctx, "/apis/kueue.x-k8s.io/v1beta2/namespaces/"+queue+"/workloads", o))
		if g.floor {
			g.fail(g.admitOne(ctx, c, queue, o["metadata"].(object)["name"].(string)))
		}
	}
}

func holds(e *event, kind string) bool {
	for _, c := range e.conditions() {
		if c.Type == kind {
			return c.Status == "True"
		}
	}
	return false
}

func (g *generator) seen(e *event) {
	key := e.Object.Metadata.Namespace + "/" + e.Object.Metadata.Name
	admitted := holds(e, "Admitted") && !holds(e, "Evicted")
	g.mutex.Lock()
	defer g.mutex.Unlock()
	l := g.lives[key]
	if l != nil && !l.finished && holds(e, "Evicted") && holds(e, "QuotaReserved") {
		g.release <- e
	}
	if l == nil || l.finished || l.admitted == admitted {
		return
	}
	l.admitted = admitted
	if !admitted {
		g.evicted++
		g.lost += float64(l.class.MilliCPU) / 1000 * time.Since(l.since).Seconds()
		l.timer.Stop()
		return
	}
	if !l.counted {
		l.counted = true
		t := g.classes[l.class.Name]
		t.Workloads++
		t.sum += time.Since(l.created)
	}
	l.since = time.Now()
	l.timer = time.AfterFunc(l.class.run(), func() { g.finish <- key })
}

func (g *generator) finisher(ctx context.Context) {
	for key := range g.finish {
		g.mutex.Lock()
		l := g.lives[key]
		again := l.finished || !l.admitted
		l.finished = l.finished || l.admitted
		g.mutex.Unlock()
		if again {
			continue
		}
		now := time.Now().UTC().Format(time.RFC3339)
		ns, name, _ := strings.Cut(key, "/")
		g.fail(g.finishOne(ctx, "/apis/kueue.x-k8s.io/v1beta2/namespaces/"+ns+"/workloads/"+name, now))
		g.mutex.Lock()
		g.used += float64(l.class.MilliCPU) / 1000 * l.class.run().Seconds()
		g.left--
		if g.left == 0 {
			close(g.done)
		}
		g.mutex.Unlock()
	}
}

func (g *generator) releaser(ctx context.Context) {
	for e := range g.release {
		g.fail(g.releaseOne(ctx, e))
	}
}

// What the controller of a job does once its pods are gone. Of an object that has changed since, the next event asks again.
func (g *generator) releaseOne(ctx context.Context, e *event) error {
	var status struct{ Conditions []object }
	if err := json.Unmarshal(e.Object.Status, &status); err != nil {
		return err
	}
	for _, c := range status.Conditions {
		if c["type"] == "QuotaReserved" || c["type"] == "Admitted" {
			c["status"], c["reason"], c["message"] = "False", "Pending", "Evicted by the generator"
			c["lastTransitionTime"] = time.Now().UTC().Format(time.RFC3339)
		}
	}
	of := e.Object.Metadata
	patch := object{"metadata": object{"resourceVersion": of.ResourceVersion},
		"status": object{"admission": nil, "conditions": status.Conditions}}
	path := "/apis/kueue.x-k8s.io/v1beta2/namespaces/" + of.Namespace + "/workloads/" + of.Name + "/status"
	return g.finishes.writeIfCurrent(ctx, "PATCH", path, "application/merge-patch+json", patch)
}

// As small as an admission can be.
func (g *generator) admitOne(ctx context.Context, c *class, queue, name string) error {
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind string) object {
		return object{"type": kind, "status": "True", "reason": kind, "message": "By the generator", "lastTransitionTime": now}
	}
	patch := object{"status": object{
		"admission": object{"clusterQueue": queue, "podSetAssignments": list{object{"name": "main", "count": c.Pods,
			"flavors": object{"cpu": "default"}, "resourceUsage": object{"cpu": fmt.Sprintf("%dm", c.MilliCPU)}}}},
		"conditions": list{condition("QuotaReserved"), condition("Admitted")}}}
	path := "/apis/kueue.x-k8s.io/v1beta2/namespaces/" + queue + "/workloads/" + name + "/status"
	return g.creates.write(ctx, "PATCH", path, "application/merge-patch+json", patch)
}

// The Finished condition joins the others: server-side apply owns just the one.
func (g *generator) finishOne(ctx context.Context, path, now string) error {
	patch := object{"apiVersion": kueue, "kind": "Workload", "status": object{"conditions": list{
		object{"type": "Finished", "status": "True", "reason": "ByTest", "message": "Its time is over", "lastTransitionTime": now}}}}
	return g.finishes.write(ctx, "PATCH", path+"/status?fieldManager=load&force=true", "application/apply-patch+yaml", patch)
}

func (g *generator) report(wall time.Duration) {
	total := 0.0
	fmt.Sscanf(g.load.Nominal, "%g", &total)
	total *= float64(g.load.Cohorts * g.load.Queues)
	for _, t := range g.classes {
		t.MeanToAdmission = t.sum.Seconds() / float64(max(1, t.Workloads))
	}
	out := object{"workloads": g.load.workloads(), "wallSeconds": wall.Seconds(),
		"workloadsPerSecond": float64(g.load.workloads()) / wall.Seconds(),
		"quotaUsePercent":    100 * g.used / (wall.Seconds() * total),
		"boundSeconds":       g.used / total, "lostSeconds": g.lost / total, "evictions": g.evicted, "classes": g.classes}
	text, _ := json.MarshalIndent(out, "", "  ")
	fmt.Println(string(text))
}

func main() {
	url := flag.String("server", "http://127.0.0.1:8088", "the API server")
	token := flag.String("token", "", "bearer token")
	ca := flag.String("ca", "", "file with the server's CA")
	path := flag.String("load", "", "file that describes the load")
	divisor := flag.Int("divisor", 1, "create only one in so many Workloads")
	limit := flag.Duration("limit", 10*time.Minute, "give up after")
	writers := flag.Int("writers", 32, "writes of Finished at a time")
	floor := flag.Bool("floor", false, "admit every Workload with one write of our own: what an API server needs at least, with nobody deciding")
	flag.Parse()
	l, err := readLoad(*path, *divisor)
	if err != nil {
		log.Fatal(err)
	}
	var apis [3]*api
	for i := range apis {
		if apis[i], err = newAPI(*url, *token, *ca); err != nil {
			log.Fatal(err)
		}
	}
	g := &generator{creates: apis[0], finishes: apis[1], watches: apis[2], load: l, floor: *floor, lives: map[string]*life{}, classes: map[string]*tally{}, left: l.workloads(),
		done: make(chan struct{}), finish: make(chan string, l.workloads()),
		release: make(chan *event, 4*l.workloads())}
	for _, c := range l.Classes {
		g.classes[c.Name] = &tally{}
	}
	os.Exit(g.play(*limit, *writers))
}

func (g *generator) play(limit time.Duration, writers int) int {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	g.setUp(ctx)
	go func() { g.fail(g.watches.watch(ctx, "/apis/kueue.x-k8s.io/v1beta2/workloads", g.seen)) }()
	for range writers {
		go g.finisher(ctx)
		go g.releaser(ctx)
	}
	start := time.Now()
	var filling sync.WaitGroup
	for cohort := range g.load.Cohorts {
		for queue := range g.load.Queues {
			filling.Add(1)
			go func() {
				defer filling.Done()
				name := fmt.Sprintf("queue-%d-%d", cohort, queue)
				g.makeQueue(ctx, name, fmt.Sprintf("cohort-%d", cohort))
				for i := range g.load.Classes {
					filling.Add(1)
					go g.fill(ctx, name, &g.load.Classes[i], &filling)
				}
			}()
		}
	}
	select {
	case <-g.done:
		g.report(time.Since(start))
		return 0
	case <-ctx.Done():
		g.mutex.Lock()
		var open []string
		for key, l := range g.lives {
			if !l.finished {
				open = append(open, key)
			}
		}
		sort.Strings(open)
		log.Printf("not over after %v: %d Workloads are left, such as %q", limit, g.left, open[:min(3, len(open))])
		return 1
	}
}
