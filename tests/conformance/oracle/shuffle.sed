s/^import (/import (\n\t"math\/rand\/v2"/
s/^\(\t*\)slices\.SortFunc(\([a-zA-Z]*\), .*/\1rand.Shuffle(len(\2), func(i, j int) { \2[i], \2[j] = \2[j], \2[i] })\n&/
