{{/* How the roles for people begin: as Kueue's chart names them, and "kueue" for a release that is called otherwise. */}}
{{- define "sluice.people" -}}
{{- $name := default "kueue" .Values.nameOverride }}
{{- default (ternary .Release.Name $name (contains $name .Release.Name)) .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "sluice.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The Configuration, as a map in YAML. */}}
{{- define "sluice.config" -}}
{{- $text := .Values.managerConfig.controllerManagerConfigYaml | default (.Files.Get "kubernetes/manager/config.yaml" | replace "kueue-system" .Release.Namespace) }}
{{- $config := fromYaml $text }}
{{- if hasKey $config "Error" }}{{ fail (printf "managerConfig.controllerManagerConfigYaml is not YAML: %s" $config.Error) }}{{ end }}
{{- $namespace := default .Release.Namespace $config.namespace }}
{{- if ne $namespace .Release.Namespace }}
{{- fail (printf "managerConfig.controllerManagerConfigYaml: namespace is %q, but the release is in %q, where its rights are" $namespace .Release.Namespace) }}
{{- end }}
{{- toYaml (set $config "namespace" $namespace) }}
{{- end }}

{{/* The port at the end of an address; none if there is no address, or if it is off ("0"). */}}
{{- define "sluice.port" -}}
{{- regexFind "[0-9]+$" (default "" .) | regexFind "[1-9][0-9]*$" }}
{{- end }}

{{/* The port of the metrics and that of the probes, if the Configuration says one. */}}
{{- define "sluice.ports" -}}
{{- $config := include "sluice.config" . | fromYaml }}
{{- with include "sluice.port" (dig "metrics" "bindAddress" "" $config) }}
metrics: {{ . }}
{{- end }}
{{- with include "sluice.port" (dig "health" "healthProbeBindAddress" "" $config) }}
health: {{ . }}
{{- end }}
{{- end }}

{{/* A list of {name, containerPort or port}, with the ports of the Configuration. */}}
{{- define "sluice.setPorts" -}}
{{- $ports := include "sluice.ports" .root | fromYaml }}
{{- range .list }}
{{- $port := get $ports (default "" .name) }}
{{- if $port }}{{ $_ := set . $.key (int $port) }}{{ end }}
{{- end }}
{{- end }}

{{/* An object with the labels of the release, in its namespace. */}}
{{- define "sluice.object" -}}
{{- $root := .root }}
{{- $o := .object }}
{{- $_ := set $o.metadata "labels" (merge (default dict $o.metadata.labels) (include "sluice.labels" $root | fromYaml)) }}
{{- if and (not $o.metadata.namespace) (has $o.kind (list "ConfigMap" "Deployment" "NetworkPolicy" "PodDisruptionBudget" "PrometheusRule" "Role" "RoleBinding" "Service" "ServiceAccount" "ServiceMonitor")) }}
{{- $_ := set $o.metadata "namespace" $root.Release.Namespace }}
{{- end }}
---
{{ toYaml $o }}
{{- end }}

{{/* The documents of a file, as a list of objects in YAML: {items: [...]}. */}}
{{- define "sluice.documents" -}}
{{- $objects := list }}
{{- range regexSplit "(?m)^---$" (.text | replace "kueue-system" .root.Release.Namespace) -1 }}
{{- $o := fromYaml . }}
{{- if hasKey $o "Error" }}{{ fail (printf "%s: %s" $.what $o.Error) }}{{ end }}
{{- if eq (default "" $o.kind) "List" }}
{{- $objects = concat $objects $o.items }}
{{- else if $o.kind }}
{{- $objects = append $objects $o }}
{{- end }}
{{- end }}
{{- toYaml (dict "items" $objects) }}
{{- end }}

{{- define "sluice.issuer" -}}
{{- if .Values.certManager.issuerRef }}
{{- toYaml .Values.certManager.issuerRef }}
{{- else }}
kind: Issuer
name: sluice-selfsigned
{{- end }}
{{- end }}

{{/* The version of the API that has MutatingAdmissionPolicy, empty if none has: as the cluster says, or, where no cluster is asked (`helm template`),
as its version of Kubernetes has it. */}}
{{- define "sluice.mutating" -}}
{{- $served := "" }}
{{- $minor := regexFind "^[0-9]+" .Capabilities.KubeVersion.Minor | int }}
{{- $asked := .Capabilities.APIVersions.Has "v1/Pod" }}
{{- range tuple (list "v1alpha1" 32) (list "v1beta1" 34) (list "v1" 36) }}
{{- $api := printf "admissionregistration.k8s.io/%s" (first .) }}
{{- if ternary ($.Capabilities.APIVersions.Has (printf "%s/MutatingAdmissionPolicy" $api)) (ge $minor (int (last .))) $asked }}{{ $served = $api }}{{ end }}
{{- end }}
{{- $served }}
{{- end }}

{{/* The objects of a directory of deploy/kubernetes, of the files that its kustomization.yaml names. */}}
{{- define "sluice.directory" -}}
{{- $objects := list }}
{{- range (.root.Files.Get (printf "kubernetes/%s/kustomization.yaml" .of) | fromYaml).resources }}
{{- $path := printf "kubernetes/%s/%s" $.of . }}
{{- $objects = concat $objects (include "sluice.documents" (dict "root" $.root "text" ($.root.Files.Get $path) "what" $path) | fromYaml).items }}
{{- end }}
{{- toYaml (dict "items" $objects) }}
{{- end }}
