# The core's headers with smaller capacities: whole numbers of 65536 and more, as `#define SL_X 65536u`, divided by 256.
/^#define SL_[A-Z_]+ [0-9]+u( |$)/ && $3 + 0 >= 65536 { sub(/ [0-9]+u/, " " int(($3 + 0) / 256) "u") }
{ print }
