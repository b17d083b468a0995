// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Sluice authors

// Every JSON text that an API server can send is read: random values and mutated texts are encoded by encoding/json, as
// kube-apiserver does, or passed on as raw messages; the reader given as the first argument has to print an equal value.
// Usage: go run main.go READER [COUNT] [SEED]; with CORPUS=file the texts are that file's lines, with KEEP=file those
// that fail are added to it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
)

const replacement = "\ufffd"

var pieces = []string{"a", "name", "\x00", "\x01", "\n", "\"", "\\", "<", "&", "\x7f", "\u0080", "\u2028", "\ufffd", "\ufffe",
	"😀", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "kueue.x-k8s.io/queue-name", "\\u0000", "é", ""}

var floats = []float64{0, math.Copysign(0, -1), 1, -1.5, 1e20, 1e21, -1e22, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64,
	math.MaxInt64, math.MinInt64, math.MaxUint64, 9007199254740993, 123456789012345678901234567890}

// What is in texts that nobody decodes: only their syntax is looked at.
var raws = []string{`"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude00"`, `"\uD83D\u0000"`, `"\ud800A"`, `"\u0000"`, `"\\u0000"`, `"\\\u0000"`,
	`1e999`, `-1e400`, `1E+2`, `0.1e-0`, `-0`, `-0.0`, `18446744073709551616`, `-9223372036854775809`, strings.Repeat("9", 500),
	"1" + strings.Repeat("0", 400) + ".5", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xf0\x9f\"", `"\/\b\f"`, `{"a":1,"a":2}`, `{"":""}`, `{"\u0000":1}`}

type maker struct{ *rand.Rand }

func (m maker) text() string {
	var b strings.Builder
	for i := m.Intn(5); i > 0; i-- {
		b.WriteString(pieces[m.Intn(len(pieces))])
	}
	return b.String()
}

func (m maker) value(depth int) any {
	switch n := m.Intn(12); {
	case n < 3 && depth > 0:
		o := map[string]any{}
		for i := m.Intn(4); i > 0; i-- {
			o[m.text()] = m.value(depth - 1)
		}
		return o
	case n < 5 && depth > 0:
		l := []any{}
		for i := m.Intn(4); i > 0; i-- {
			l = append(l, m.value(depth-1))
		}
		return l
	case n == 5:
		return floats[m.Intn(len(floats))]
	case n == 6:
		return math.Float64frombits(m.Uint64() &^ (1 << 62))
	case n == 7:
		return int64(m.Uint64())
	case n == 8:
		return []any{nil, true, false}[m.Intn(3)]
	case n == 9:
		return json.RawMessage(raws[m.Intn(len(raws))])
	}
	return m.text()
}

func (m maker) deep() any {
	v := any(m.text())
	for i := 50 + m.Intn(9900); i > 0; i-- {
		if m.Intn(2) == 0 {
			v = []any{v}
		} else {
			v = map[string]any{"k": v}
		}
	}
	return v
}

// A text with bytes changed, if it is JSON still: as a raw message, or decoded and encoded again.
func (m maker) mutated(text []byte) []byte {
	b := bytes.Clone(text)
	for i := 1 + m.Intn(4); i > 0 && len(b) > 0; i-- {
		at := m.Intn(len(b))
		switch m.Intn(3) {
		case 0:
			b[at] = byte(m.Intn(256))
		case 1:
			b = append(b[:at], b[at+1:]...)
		case 2:
			b = append(b[:at], append([]byte(raws[m.Intn(len(raws))]), b[at:]...)...)
		}
	}
	if m.Intn(2) == 0 {
		return b
	}
	var v any
	if json.Unmarshal(b, &v) != nil {
		return b
	}
	out, _ := json.Marshal(v)
	return out
}

// One text as a server sends it; nil when this one could not be sent.
func (m maker) sent() []byte {
	v := any(map[string]any{"metadata": m.value(3), "spec": m.value(6)})
	if m.Intn(40) == 0 {
		v = map[string]any{"deep": m.deep()}
	}
	text, err := json.Marshal(v)
	if err == nil && m.Intn(2) == 0 {
		text, err = json.Marshal(json.RawMessage(m.mutated(text)))
	}
	if err != nil || text[0] != '{' {
		return nil
	}
	return text
}

func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// As the reader holds it; false when two keys of a map become one.
func held(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", replacement), true
	case json.Number:
		return number(v.String()), true
	case []any:
		ok := true
		for i := range v {
			var fine bool
			v[i], fine = held(v[i])
			ok = ok && fine
		}
		return v, ok
	case map[string]any:
		out, ok := map[string]any{}, true
		for k, item := range v {
			value, fine := held(item)
			out[strings.ReplaceAll(k, "\x00", replacement)] = value
			ok = ok && fine
		}
		return out, ok && len(out) == len(v)
	}
	return v, true
}

func number(text string) string {
	if n, ok := new(big.Int).SetString(text, 10); ok && n.IsInt64() {
		return n.String()
	}
	f, _ := strconv.ParseFloat(text, 64)
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func verdict(sent, answer []byte) string {
	if len(answer) > 0 && answer[0] == '!' {
		return "not read: " + string(answer[1:])
	}
	want, err := decode(sent)
	if err != nil {
		return "" // a raw message that Go itself does not read again
	}
	got, err := decode(answer)
	if err != nil {
		return "what was printed is no JSON: " + err.Error()
	}
	want, single := held(want)
	got, _ = held(got)
	if single && !reflect.DeepEqual(want, got) {
		return "read as another value"
	}
	return ""
}

type reader struct {
	in  *bufio.Writer
	out *bufio.Reader
}

func start(program string) reader {
	c := exec.Command(program)
	in, _ := c.StdinPipe()
	out, _ := c.StdoutPipe()
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		fmt.Println("received:", err)
		os.Exit(2)
	}
	return reader{bufio.NewWriter(in), bufio.NewReader(out)}
}

func (r reader) ask(text []byte) []byte {
	_, _ = r.in.Write(append(text, '\n'))
	if err := r.in.Flush(); err != nil {
		return []byte("!the reader has ended")
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return []byte("!the reader has ended")
	}
	return bytes.TrimSuffix(line, []byte("\n"))
}

func texts(count int, seed int64) [][]byte {
	if path := os.Getenv("CORPUS"); path != "" {
		whole, err := os.ReadFile(path)
		if err != nil {
			fmt.Println("received:", err)
			os.Exit(2)
		}
		return bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	}
	m, out := maker{rand.New(rand.NewSource(seed))}, [][]byte{}
	for len(out) < count {
		if text := m.sent(); text != nil {
			out = append(out, text)
		}
	}
	return out
}

func main() {
	count, seed := 20000, int64(1)
	if len(os.Args) > 2 {
		count, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) > 3 {
		seed, _ = strconv.ParseInt(os.Args[3], 10, 64)
	}
	r, failed, all := start(os.Args[1]), 0, texts(count, seed)
	for _, text := range all {
		why := verdict(text, r.ask(text))
		if why == "" {
			continue
		}
		if failed++; failed <= 10 {
			fmt.Printf("%s: %.300q\n", why, text)
		}
		if keep := os.Getenv("KEEP"); keep != "" && len(text) < 4000 {
			f, _ := os.OpenFile(keep, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			_, _ = f.Write(append(text, '\n'))
			_ = f.Close()
		}
	}
	fmt.Printf("received: %d passed, %d failed\n", len(all)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
