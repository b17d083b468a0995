# Which room, and which folder of a room, may include which (docs/architecture.md, folders.txt).
# Files that know the core without belonging to a room that may are in core_users.txt.
# usage: awk -f layers.awk tests/lint/folders.txt tests/lint/core_users.txt FILES
BEGIN {
    may["kernel"] = ""; may["policy"] = "kernel"; may["base"] = ""; may["api"] = "base"
    may["engine"] = "kernel policy api base"; may["store"] = may["kube"] = "api base"
    may["webhook"] = "api base"; may["server"] = "store api base"; may["controllers"] = "engine api base"
    may["runner"] = "controllers server api base"
    may["cli"] = "runner controllers engine store server kube webhook api base"
    core = "<stdint.h> <stdbool.h> <stddef.h> "
    own["json-c"] = "api"; own["yaml.h"] = "api"; own["microhttpd.h"] = "server"; own["sqlite3.h"] = "store"
    own["seccomp.h"] = own["cap-ng.h"] = "cli"; own["curl"] = "kube cli"; own["uv.h"] = "server kube cli"; own["gnutls"] = "base server"
}
FILENAME ~ /folders\.txt$/ {
    if ($1 == "except") { excepted[$2, $3] = 1; given[$2 " " $3] = 0; next }
    if (/^[a-z]+:/) { sub(/:/, "", $1); for (i = 2; i <= NF; i++) height[$1, $i] = i }
    next
}
FILENAME ~ /core_users\.txt$/ { if (/^[a-z]/) knows["src/" $2] = 1; next }
FNR == 1 { n = split(FILENAME, part, "/"); room = part[2]; folder = n > 3 ? part[3] : "" }
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
    if (n < 2 || (at[1] != room && index(" " may[room] " ", " " at[1] " ") == 0 && !(at[1] == "policy" && (FILENAME in knows)))) bad(what)
    if (at[1] == room && n > 2) folders(what, at[2])
}
# Of what lies in the room itself: programs, which are above all folders, and headers, which may name any type.
function folders(what, other,    file) {
    if (folder == "") return
    if (!((room, other) in height)) return
    if (!((room, folder) in height)) { bad(what ": folders.txt does not have " room "/" folder); return }
    if (height[room, other] <= height[room, folder]) return
    file = FILENAME; sub(/^src\//, "", file)
    if ((file, what) in excepted) { given[file " " what]++; return }
    bad(what)
}
function bad(what) { printf "%s:%d: %s may not include %s\n", FILENAME, FNR, room, what; fails++ }
END {
    for (e in given) if (!given[e]) { printf "folders.txt: the exception %s is not needed\n", e; fails++ }
    exit fails > 0
}
