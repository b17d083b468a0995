# Who may include whom (docs/architecture.md). usage: awk -f layers.awk src/*/*.c src/*/*.h src/*/*/*
BEGIN {
    may["kernel"] = ""; may["policy"] = "kernel"; may["base"] = ""; may["api"] = "base"
    may["engine"] = "kernel policy api base"; may["store"] = may["kube"] = "api base"
    may["server"] = "store api base"; may["controllers"] = "engine api base"
    may["cli"] = "controllers engine store server kube api base"
    core = "<stdint.h> <stdbool.h> <stddef.h> "
    own["json-c"] = "api"; own["yaml.h"] = "api"; own["microhttpd.h"] = "server"; own["sqlite3.h"] = "store"
    own["seccomp.h"] = own["cap-ng.h"] = "cli"; own["curl"] = "kube cli"; own["uv.h"] = "server kube cli"; own["gnutls"] = "server"
}
FNR == 1 { split(FILENAME, part, "/"); room = part[2] }
/^[ \t]*#[ \t]*include/ {
    what = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", what); sub(/[ \t].*/, "", what)
    if (what ~ /^</) { system_header(what) } else { our_header(what) }
}
function system_header(what,    name, at) {
    if ((room == "kernel" || room == "policy") && index(core, what " ") == 0) { bad(what); return }
    name = what; gsub(/[<>]/, "", name); split(name, at, "/")
    if ((at[1] in own) && index(" " own[at[1]] " ", " " room " ") == 0) bad(what)
}
function our_header(what,    n, at) {
    gsub(/"/, "", what); n = split(what, at, "/")
    if (at[1] == "specs" || at[1] == "model") {
        if (room != "kernel" && room != "policy" && what !~ /_(reasons|causes)\.def$/) bad(what)
        return
    }
    if (n < 2 || (at[1] != room && index(" " may[room] " ", " " at[1] " ") == 0)) bad(what)
}
function bad(what) { printf "%s:%d: %s may not include %s\n", FILENAME, FNR, room, what; fails++ }
END { exit fails > 0 }
