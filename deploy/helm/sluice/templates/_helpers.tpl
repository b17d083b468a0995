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
{{- $port := get $ports (default (default "" .name) .targetPort | toString) }}
{{- if $port }}{{ $_ := set . $.key (int $port) }}{{ end }}
{{- end }}
{{- end }}

{{/* An object with the labels of the release, in its namespace. */}}
{{- define "sluice.object" -}}
{{- $root := .root }}
{{- $o := .object }}
{{- $_ := set $o.metadata "labels" (merge (default dict $o.metadata.labels) (include "sluice.labels" $root | fromYaml)) }}
{{- if and (not $o.metadata.namespace) (has $o.kind (list "ConfigMap" "Deployment" "NetworkPolicy" "PodDisruptionBudget" "PrometheusRule" "Role" "RoleBinding" "Secret" "Service" "ServiceAccount" "ServiceMonitor")) }}
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
as its version of Kubernetes has it by default. */}}
{{- define "sluice.mutating" -}}
{{- $served := "" }}
{{- $minor := regexFind "^[0-9]+" .Capabilities.KubeVersion.Minor | int }}
{{- $asked := .Capabilities.APIVersions.Has "v1/Pod" }}
{{- range list "v1alpha1" "v1beta1" "v1" }}
{{- $api := printf "admissionregistration.k8s.io/%s" . }}
{{- if ternary ($.Capabilities.APIVersions.Has (printf "%s/MutatingAdmissionPolicy" $api)) (and (eq . "v1") (ge $minor 36)) $asked }}{{ $served = $api }}{{ end }}
{{- end }}
{{- $served }}
{{- end }}

{{/* Not empty: the API server asks the daemon, to suspend jobs where no policies can, or to convert v1beta1. */}}
{{- define "sluice.webhook" -}}
{{- if eq .Values.webhook.enabled nil }}
{{- if or .Values.enableV1beta1 (not (include "sluice.mutating" .)) }}yes{{ end }}
{{- else if .Values.webhook.enabled }}yes{{ end }}
{{- end }}

{{/* A CRD with v1beta1 besides, as deploy/kubernetes/v1beta1 adds it: a list of additions, in JSON Patch. */}}
{{- define "sluice.withV1beta1" -}}
{{- $crd := .crd }}
{{- $path := printf "kubernetes/v1beta1/kueue.x-k8s.io_%s.yaml" $crd.spec.names.plural }}
{{- range fromYamlArray (.root.Files.Get $path | replace "kueue-system" .root.Release.Namespace) }}
{{- if eq (printf "%s %s" .op .path) "add /spec/conversion" }}
{{- $_ := set $crd.spec "conversion" .value }}
{{- else if eq (printf "%s %s" .op .path) "add /spec/versions/-" }}
{{- $_ := set $crd.spec "versions" (append $crd.spec.versions .value) }}
{{- else }}
{{- fail (printf "%s: the chart does not follow %q" $path .path) }}
{{- end }}
{{- end }}
{{- toYaml $crd }}
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
