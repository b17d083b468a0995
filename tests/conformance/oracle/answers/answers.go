// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Package answers takes an oracle through files of cases. To be copied into pkg/util of a checkout of Kueue.
package answers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Write asks about each case of the directory ORACLE_IN, in a test of its own, and writes the case to ORACLE_OUT with
// the answer as its expect. What the oracle does not know of a case stays as it is.
func Write[Case, Answer any](t *testing.T, ask func(*testing.T, *Case) Answer) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("ORACLE_IN"), "*.json"))
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var c Case
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			var whole map[string]json.RawMessage
			_ = json.Unmarshal(text, &whole)
			b, err := json.Marshal(ask(t, &c))
			if err != nil {
				t.Fatal(err)
			}
			whole["expect"] = b
			b, _ = json.Marshal(whole)
			if err := os.WriteFile(filepath.Join(os.Getenv("ORACLE_OUT"), filepath.Base(f)), b, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
