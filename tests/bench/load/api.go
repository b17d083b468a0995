// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

// The few requests that a load needs, over HTTP as any client makes them. Creations, finishes and the watch each have
// connections of their own, so that none waits for another.
type api struct {
	url, token string
	http       *http.Client
}

func newAPI(url, token, caFile string) (*api, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64, ForceAttemptHTTP2: true}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate in it", caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &api{url: url, token: token, http: &http.Client{Transport: transport}}, nil
}

func (a *api) do(ctx context.Context, method, path, contentType string, body any) (*http.Response, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.http.Do(r)
}

// Repeats what the server was too busy for. An object that exists already is fine: an earlier try made it.
func (a *api) write(ctx context.Context, method, path, contentType string, body any) error {
	return a.send(ctx, method, path, contentType, body, false)
}

// The same for a body that names its resourceVersion: a conflict is no error.
func (a *api) writeIfCurrent(ctx context.Context, method, path, contentType string, body any) error {
	return a.send(ctx, method, path, contentType, body, true)
}

func (a *api) send(ctx context.Context, method, path, contentType string, body any, conflicts bool) error {
	for try := 0; ; try++ {
		r, err := a.do(ctx, method, path, contentType, body)
		if err != nil {
			return err
		}
		text, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		r.Body.Close()
		switch {
		case r.StatusCode < 300 || ((conflicts || try > 0) && r.StatusCode == http.StatusConflict):
			return nil
		case (r.StatusCode == http.StatusTooManyRequests || r.StatusCode >= 500) && try < 20:
			time.Sleep(100 * time.Millisecond)
		default:
			return fmt.Errorf("%s %s: %s: %.300s", method, path, r.Status, text)
		}
	}
}

func (a *api) create(ctx context.Context, path string, o object) error {
	return a.write(ctx, http.MethodPost, path, "application/json", o)
}

type condition struct {
	Type, Status, Reason string
}
type event struct {
	Type   string
	Object struct {
		Metadata struct {
			Name, Namespace, ResourceVersion string
			Labels                           map[string]string
		}
		Status json.RawMessage
	}
}

func (e *event) conditions() []condition {
	var status struct{ Conditions []condition }
	_ = json.Unmarshal(e.Object.Status, &status) // of an ERROR it is a word
	return status.Conditions
}

// Every event of a collection that is empty at first, until ctx ends. Resumes where a watch ended, and from what there
// is when that was too long ago.
func (a *api) watch(ctx context.Context, path string, each func(*event)) error {
	version := ""
	for {
		query := "?watch=1&allowWatchBookmarks=true"
		if version != "" {
			query += "&resourceVersion=" + version
		}
		r, err := a.do(ctx, http.MethodGet, path+query, "", nil)
		if err != nil {
			return err
		}
		if r.StatusCode != http.StatusOK {
			r.Body.Close()
			switch r.StatusCode {
			case http.StatusGone:
				version = ""
			case http.StatusTooManyRequests: // a definition that is new is not served yet
				time.Sleep(100 * time.Millisecond)
			default:
				return fmt.Errorf("watch of %s: %s", path, r.Status)
			}
			continue
		}
		lines := bufio.NewReaderSize(r.Body, 1<<20)
		decoder := json.NewDecoder(lines)
		for {
			var e event
			if err := decoder.Decode(&e); err != nil {
				if err != io.EOF && err != io.ErrUnexpectedEOF && ctx.Err() == nil {
					log.Printf("watch of %s from %s: %v", path, version, err)
				}
				break
			}
			if e.Type == "ERROR" {
				log.Printf("watch of %s has fallen behind", path)
				version = ""
				break
			}
			version = e.Object.Metadata.ResourceVersion
			if e.Type != "BOOKMARK" {
				each(&e)
			}
		}
		r.Body.Close()
		if ctx.Err() != nil {
			return nil
		}
	}
}
