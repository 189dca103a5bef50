# Sourced by ops/tierlog and .ci/run: finding a JDK that can build and run Tierlog.

readonly needed_jdk=25

# Prints the major version of the JDK at $1, or 0 when it is none.
jdk_major() {
  local version
  [[ -x "$1/bin/javac" && -r "$1/release" ]] || { echo 0; return; }
  version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
  echo "${version:-0}"
}

# Prints the home of the first JDK that is new enough; returns 1 when there is none.
find_jdk() {
  local home java
  local -a homes=()
  [[ -n "${JAVA_HOME:-}" ]] && homes+=("$JAVA_HOME")
  if java=$(command -v java) && java=$(readlink -f "$java" 2>/dev/null); then
    homes+=("$(dirname "$(dirname "$java")")")
  fi
  homes+=(/usr/lib/jvm/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/* "$HOME"/Library/Java/JavaVirtualMachines/*/Contents/Home)
  if [[ -x /usr/libexec/java_home ]] && home=$(/usr/libexec/java_home -v "$needed_jdk+" 2>/dev/null); then
    homes+=("$home")
  fi
  for home in "${homes[@]}"; do
    if (( $(jdk_major "$home") >= needed_jdk )); then
      echo "$home"
      return 0
    fi
  done
  return 1
}

# Says on stderr what to install.
explain_jdk() {
  cat >&2 <<EOF
error: no JDK $needed_jdk or later found (looked at JAVA_HOME, java on the PATH, /usr/lib/jvm, ~/.sdkman, ~/.jdks)
hint: install one, for example Temurin $needed_jdk from https://adoptium.net, or: sdk install java $needed_jdk-tem
EOF
}
