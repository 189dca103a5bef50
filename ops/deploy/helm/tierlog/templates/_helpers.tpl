{{- define "tierlog.name" -}}
{{- printf "%s" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "tierlog.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}

{{/* Labels that selectors use: call with a dict of root and part. */}}
{{- define "tierlog.selector" -}}
app.kubernetes.io/name: tierlog
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "tierlog.labels" -}}
{{ include "tierlog.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Arguments that every part has: call with a dict of root and part. */}}
{{- define "tierlog.kafkaArguments" -}}
- --bootstrap-servers
- {{ required "kafka.bootstrapServers: give HOST:PORT of the brokers" .root.Values.kafka.bootstrapServers | quote }}
- --topic-prefix
- {{ .root.Values.kafka.topicPrefix | quote }}
- --connect-timeout
- "60"
- --format
- json
{{- with .root.Values.kafka.registryUrl }}
- --registry-url
- {{ . | quote }}
{{- end }}
{{- if index .root.Values.kafka.clientSecrets .part }}
- --client-config
- /etc/tierlog/kafka/{{ .root.Values.kafka.clientSecretKey }}
{{- end }}
{{- if index (default dict .root.Values.recordKeys) .part }}
- --record-keys
- /etc/tierlog/record.keys
{{- end }}
{{- if and .root.Values.tls.secret (ne .part "setup") }}
- --tls-certificates
- /etc/tierlog/tls/tls.crt
- --tls-key
- /etc/tierlog/tls/tls.key
- --tls-ca
- /etc/tierlog/tls/ca.crt
{{- with .root.Values.tls.peerName }}
- --tls-peer-name
- {{ . | quote }}
{{- end }}
- --tls-except
- STATUS
{{- if .root.Values.tls.clients }}
- --tls-client-ca
- /etc/tierlog/tls/ca.crt
{{- end }}
{{- end }}
{{- end -}}

{{- define "tierlog.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if index .root.Values.kafka.clientSecrets .part }}
- name: kafka-client
  mountPath: /etc/tierlog/kafka
  readOnly: true
{{- end }}
{{- if index (default dict .root.Values.recordKeys) .part }}
- name: record-keys
  mountPath: /etc/tierlog/record.keys
  {{- if eq .part "agent" }}
  # An agent must not see the keys of other nodes.
  subPathExpr: $(NODE_NAME).keys
  {{- else }}
  subPath: {{ eq .part "controller" | ternary "master" .part }}.keys
  {{- end }}
  readOnly: true
{{- end }}
{{- if and .root.Values.tls.secret (ne .part "setup") }}
- name: tls
  mountPath: /etc/tierlog/tls
  readOnly: true
{{- end }}
{{- if and .root.Values.tokensSecret (ne .part "setup") (ne .part "bridge") }}
- name: tokens
  mountPath: /etc/tierlog/tokens
  readOnly: true
{{- end }}
{{- end -}}

{{- define "tierlog.volumes" -}}
- name: tmp
  emptyDir: {}
{{- with index .root.Values.kafka.clientSecrets .part }}
- name: kafka-client
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- with index (default dict .root.Values.recordKeys) .part }}
- name: record-keys
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- if and .root.Values.tls.secret (ne .part "setup") }}
- name: tls
  secret:
    secretName: {{ .root.Values.tls.secret | quote }}
    defaultMode: 0440
{{- end }}
{{- if and .root.Values.tokensSecret (ne .part "setup") (ne .part "bridge") }}
- name: tokens
  secret:
    secretName: {{ .root.Values.tokensSecret | quote }}
    defaultMode: 0440
    # Each part sees the tokens that it uses, and no others.
    items:
    {{- if eq .part "agent" }}
      - { key: directory-token, path: directory-token }
      - { key: agent-token, path: agent-token }
    {{- else }}
      - { key: tokens, path: tokens }
    {{- end }}
    {{- if eq .part "directory" }}
      - { key: peer-token, path: peer-token }
    {{- end }}
{{- end }}
{{- end -}}

{{- define "tierlog.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
fsGroup: {{ .user }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "tierlog.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "tierlog.placement" -}}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The process runs when its port answers at all; it gets work when /health is well. A broker that is away must not restart it. */}}
{{- define "tierlog.probes" -}}
startupProbe:
  httpGet: { path: /metrics, port: status }
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /metrics, port: status }
  periodSeconds: 20
  timeoutSeconds: 10
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /health, port: status }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{/* How an HTTP API that other machines reach is protected: call with the root. */}}
{{- define "tierlog.tokenArguments" -}}
{{- if .Values.tokensSecret }}
- --api-tokens
- /etc/tierlog/tokens/tokens
{{- else }}
- --api-insecure
{{- end }}
{{- end -}}
