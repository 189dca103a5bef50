# Sourced by the scripts of this directory and by .ci/run: where the Docker daemon of the cluster tests lives and what its images are called.
# Set TIERLOG_DOCKER_STATE to another directory (with 2 GB free, and a short path: it holds a socket) to move all of it.

readonly docker_state=${TIERLOG_DOCKER_STATE:-/var/tmp/tierlog-docker}
readonly docker_pid_file="$docker_state/dockerd.pid"
readonly docker_log="$docker_state/dockerd.log"
readonly docker_stamp="$docker_state/network-before"
# Image names get this prefix, so that no local image is taken for the official one of the same name.
readonly image_prefix=tierlog-local/

# One line on stderr, and the end of the script.
fail() {
  echo "${0##*/}: $1" >&2
  exit 1
}

# A docker call that cannot hang: at most so many seconds.
docker_within() {
  local seconds=$1
  shift
  timeout --kill-after=5 "$seconds" docker "$@"
}

docker_answers() {
  command -v docker > /dev/null && docker_within 10 version > /dev/null 2>&1
}

use_own_daemon() {
  export DOCKER_HOST="unix://$docker_state/docker.sock"
}

# The id of the daemon that docker-up started, when it runs; returns 1 when it does not. The file may be one that a killed daemon left, and its
# number may be another process by now.
own_daemon() {
  local pid
  pid=$(cat "$docker_pid_file" 2> /dev/null) && [[ "$pid" =~ ^[0-9]+$ ]] || return 1
  tr '\0' ' ' 2> /dev/null < "/proc/$pid/cmdline" | grep -q -- "dockerd .*$docker_state/data" || return 1
  echo "$pid"
}

# What Testcontainers needs to know where there is no image registry.
use_local_images() {
  export TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX=$image_prefix
  export TESTCONTAINERS_RYUK_DISABLED=true
  export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1
}

# Ends what a killed daemon of ours left running: its containers' processes, their shims, its containerd. They carry our directory in their
# command line, or their parent does.
end_orphans() {
  local entry pid
  for entry in /proc/[0-9]*; do
    pid=${entry#/proc/}
    if tr '\0' ' ' 2> /dev/null < "$entry/cmdline" | grep -qE "^[^ ]*containerd[^ ]* .*$docker_state/exec"; then
      pkill -KILL -P "$pid" 2> /dev/null || true
      kill -KILL "$pid" 2> /dev/null || true
    fi
  done
}

# Mounts that a killed daemon left below our directory.
unmount_state() {
  local mount
  awk -v under="$docker_state/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do
    umount -l "$mount" 2> /dev/null || true
  done
}

# Takes away the bridge, the chains and the settings that the daemon left, unless another daemon runs and uses the same ones.
restore_network() {
  [[ -f "$docker_stamp" ]] || return 0
  pgrep -x dockerd > /dev/null 2>&1 && return 0
  local table chain forward policy
  { read -r forward; read -r policy; } < "$docker_stamp" || true
  if command -v iptables > /dev/null; then
    for table in nat filter; do
      # Rules that jump to Docker's chains or name its bridges, then the chains.
      { iptables -w 5 -t "$table" -S 2> /dev/null | grep -E '^-A .*(DOCKER|docker0|br-[0-9a-f]{12})' || true; } | sed 's/^-A/-D/' \
        | while read -r rule; do
          # shellcheck disable=SC2086
          iptables -w 5 -t "$table" $rule 2> /dev/null || true
        done
      for chain in DOCKER DOCKER-ISOLATION-STAGE-1 DOCKER-ISOLATION-STAGE-2 DOCKER-USER; do
        iptables -w 5 -t "$table" -F "$chain" 2> /dev/null || true
        iptables -w 5 -t "$table" -X "$chain" 2> /dev/null || true
      done
    done
    [[ "${policy:-}" != *ACCEPT* ]] || iptables -w 5 -P FORWARD ACCEPT 2> /dev/null || true
  fi
  if command -v ip > /dev/null; then
    ip link delete docker0 2> /dev/null || true
  fi
  [[ "${forward:-}" != 0 ]] || echo 0 > /proc/sys/net/ipv4/ip_forward 2> /dev/null || true
  rm -f "$docker_stamp"
}
