{{/* What cannot be meant. Each template begins with it: which one is rendered first, helm decides. */}}
{{- define "sluice.checks" -}}
{{- if not (hasKey .Values "admissionPolicies") }}
{{- fail "these are the values of another chart, as with --reuse-values after Kueue's: use --reset-then-reuse-values, which keeps those that you have set" }}
{{- end }}
{{- if .Values.enableKueueViz }}
{{- fail "enableKueueViz: KueueViz is not in this chart. The daemon has a web page of its own (docs/web-page.md); set enableKueueViz to false" }}
{{- end }}
{{- $image := .Values.controllerManager.manager.image.repository }}
{{- if regexMatch "(^|/)kueue$" $image }}
{{- fail (printf "controllerManager.manager.image.repository is %q, which is Kueue's own program: name your image of Sluice (docs/install.md)" $image) }}
{{- end }}
{{- $config := include "sluice.config" . | fromYaml }}
{{- if and .Values.controllerManager.featureGates $config.featureGates }}
{{- fail "controllerManager.featureGates and featureGates of the Configuration: only one of them can be" }}
{{- end }}
{{- end }}
