# The core with capacities of a small world: whole numbers of 65536 and more, as `#define X 65536u`, divided by 16384, but
# not below 8, and by 65536 from 524288 on. What is left of sites, measures and their rooms still belongs together.
function small(n) {
    n = n >= 524288 ? n / 65536 : n / 16384
    return n < 8 ? 8 : int(n)
}
/^#define (SL_CAPACITIES_MAX|SL_BOOKINGS_MAX) / { sub(/ [0-9]+u/, " 128u") }
/^#define SL_MEASURES_MAX / { sub(/ [0-9]+u/, " 16u") }
/^#define (SL_RESOURCES_MAX|SL_TOLERANCES_MAX|SL_MASKS_MAX|SL_SCORED_MASKS_MAX|LEAST_MAX) [0-9]+u( |$)/ { sub(/ [0-9]+u/, " 16u") }
/^#define [A-Z_]+ [0-9]+u( |$)/ && $2 != "SL_USAGE_PARTS" && $3 + 0 >= 65536 { sub(/ [0-9]+u/, " " small($3 + 0) "u") }
{ print }
