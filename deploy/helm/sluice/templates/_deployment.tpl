{{/* Puts what the values say into the Deployment of deploy/kubernetes. */}}
{{- define "sluice.deployment" -}}
{{- $root := .root }}
{{- $v := .root.Values.controllerManager }}
{{- $spec := .object.spec }}
{{- $template := $spec.template }}
{{- $pod := $template.spec }}
{{- $_ := set $spec "replicas" (int $v.replicas) }}
{{- with $v.strategy }}{{ $_ := set $spec "strategy" . }}{{ end }}
{{- $_ := set $template.metadata "labels" (merge $template.metadata.labels (dict "app.kubernetes.io/instance" $root.Release.Name)) }}
{{- $notes := dict "checksum/config" (include "sluice.config" $root | sha256sum) "kubectl.kubernetes.io/default-container" "manager" }}
{{- $_ := set $template.metadata "annotations" (mergeOverwrite $notes $v.manager.podAnnotations) }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "imagePullSecrets" "hostNetwork" "dnsPolicy" }}
{{- with get $v $key }}{{ $_ := set $pod $key . }}{{ end }}
{{- end }}
{{- with $v.manager.priorityClassName }}{{ $_ := set $pod "priorityClassName" . }}{{ end }}
{{- $_ := set $pod "securityContext" (mergeOverwrite $pod.securityContext $v.manager.podSecurityContext) }}
{{- include "sluice.container" (dict "root" $root "container" (first $pod.containers)) }}
{{- if $root.Values.enableCertManager }}
{{- $_ := set $pod "volumes" (append $pod.volumes (dict "name" "visibility" "secret" (dict "secretName" "sluice-visibility-cert"))) }}
{{- end }}
{{- end }}

{{- define "sluice.container" -}}
{{- $v := .root.Values.controllerManager }}
{{- $c := .container }}
{{- $image := $v.manager.image }}
{{- $_ := set $c "image" (printf "%s:%s" $image.repository (default .root.Chart.AppVersion $image.tag)) }}
{{- $_ := set $c "imagePullPolicy" $image.pullPolicy }}
{{- if not (kindIs "invalid" $v.manager.logLevel) }}
{{- $_ := set $c "args" (append $c.args (printf "--zap-log-level=%v" $v.manager.logLevel)) }}
{{- end }}
{{- with $v.featureGates }}
{{- $gates := list }}
{{- range . }}{{ $gates = append $gates (printf "%s=%t" .name .enabled) }}{{ end }}
{{- $_ := set $c "args" (append $c.args (printf "--feature-gates=%s" (join "," $gates))) }}
{{- end }}
{{- range $probe := list "readinessProbe" "livenessProbe" }}
{{- $_ := set $c $probe (mergeOverwrite (get $c $probe) (get $v $probe)) }}
{{- end }}
{{- with $v.manager.resources }}{{ $_ := set $c "resources" . }}{{ end }}
{{- $_ := set $c "securityContext" (mergeOverwrite $c.securityContext $v.manager.containerSecurityContext) }}
{{- include "sluice.setPorts" (dict "root" .root "list" $c.ports "key" "containerPort") }}
{{- if .root.Values.enableCertManager }}
{{- $_ := set $c "args" (append $c.args "--tls-dir=/visibility") }}
{{- $_ := set $c "volumeMounts" (append $c.volumeMounts (dict "name" "visibility" "mountPath" "/visibility" "readOnly" true)) }}
{{- end }}
{{- end }}

{{- define "sluice.service" -}}
{{- $v := .root.Values.metricsService }}
{{- include "sluice.setPorts" (dict "root" .root "list" .object.spec.ports "key" "port") }}
{{- with $v.ports }}{{ $_ := set $.object.spec "ports" . }}{{ end }}
{{- $_ := set .object.spec "type" $v.type }}
{{- $_ := set .object.metadata "labels" (mergeOverwrite .object.metadata.labels $v.labels) }}
{{- with $v.annotations }}{{ $_ := set $.object.metadata "annotations" . }}{{ end }}
{{- end }}

{{/* The NetworkPolicy names ports by number: those of the Deployment before and after the Configuration. */}}
{{- define "sluice.network" -}}
{{- $ports := include "sluice.ports" .root | fromYaml }}
{{- range (include "sluice.directory" (dict "root" .root "of" "manager") | fromYaml).items }}
{{- if eq .kind "Deployment" }}
{{- range $known := (first .spec.template.spec.containers).ports }}
{{- range $rule := $.object.spec.ingress }}
{{- range $rule.ports }}
{{- if and (eq (int .port) (int $known.containerPort)) (hasKey $ports $known.name) (not .done) }}
{{- $_ := set . "port" (int (get $ports $known.name)) }}
{{- $_ := set . "done" true }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- range .object.spec.ingress }}{{ range .ports }}{{ $_ := unset . "done" }}{{ end }}{{ end }}
{{- end }}
