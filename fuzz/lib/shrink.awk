# The core's headers with smaller capacities: whole numbers of 65536 and more, as `#define SL_X 65536u`, divided by 256. Sites,
# and capacities, which are measures times sites, by 1024: what is kept by measure lies so close then that an input touches
# a third fewer pages, each of which is a fault.
/^#define SL_[A-Z_]+ [0-9]+u( |$)/ && $3 + 0 >= 65536 {
    sub(/ [0-9]+u/, " " int(($3 + 0) / ($2 ~ /^SL_(SITES|CAPACITIES)_MAX$/ ? 1024 : 256)) "u")
}
{ print }
