# Sourced: a private sshd on the loopback with its own keys and settings; uses nothing under
# /etc or in any home directory.
#
#   sshd_begin FOLDER     start it; 1 with the reason in $sshd_why if that is not possible
#   $ssh [OPTION]... rig COMMAND    a client of it (a variable, to be split into words)
#   $sshc rig COMMAND     the same through a proxy that can be frozen: a network cut
#   sshd_freeze, sshd_thaw
#   sshd_end
#
# A connection whose client does not respond is closed after about 3 s.

sshd_pid=
proxy_pid=

sshd_config() {
	cat >"$1/server" <<-END
		Port $2
		ListenAddress 127.0.0.1
		HostKey $1/host-key
		PidFile $1/pid
		AuthorizedKeysFile $1/client-key.pub
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		PermitRootLogin prohibit-password
		PrintMotd no
		MaxSessions 50
		MaxStartups 100
		ClientAliveInterval 1
		ClientAliveCountMax 2
		SetEnv NVMTOP_BOARDS=$NVMTOP_BOARDS LC_ALL=C.UTF-8
	END
	for at in direct:$2 proxy:$3; do
		cat >"$1/client-${at%:*}" <<-END
			Host rig
			HostName 127.0.0.1
			Port ${at#*:}
			User $(id -un)
			IdentityFile $1/client-key
			IdentitiesOnly yes
			StrictHostKeyChecking no
			UserKnownHostsFile $1/known
			LogLevel ERROR
			ConnectTimeout 20
		END
	done
}

sshd_begin() {
	sshd_dir=$1
	sshd=$(command -v sshd || ls /usr/sbin/sshd /usr/local/sbin/sshd 2>/dev/null | head -n 1)
	for tool in ssh ssh-keygen; do
		command -v $tool >/dev/null || sshd_why="$tool is not installed: ./bootstrap --tests installs it"
	done
	test -n "$sshd" || sshd_why='sshd is not installed: ./bootstrap --tests installs it'
	test -z "${sshd_why:-}" || return 1
	mkdir -p "$sshd_dir" && chmod 700 "$sshd_dir" || return 1
	# The privilege separation directory; only root needs it and can create it.
	test "$(id -u)" -ne 0 || mkdir -p /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$sshd_dir/host-key" &&
		ssh-keygen -q -t ed25519 -N '' -f "$sshd_dir/client-key" || return 1
	for try in 1 2 3 4 5 6; do
		# currently free; another program may take it first
		sshd_port=$("${python:-python3}" -c 'import socket
s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
		sshd_config "$sshd_dir" "$sshd_port" 0
		"$sshd" -D -f "$sshd_dir/server" -E "$sshd_dir/log" &
		sshd_pid=$!
		for i in $(seq 100); do
			kill -0 $sshd_pid 2>/dev/null || break
			grep -q 'Server listening' "$sshd_dir/log" 2>/dev/null && break
			sleep 0.05
		done
		kill -0 $sshd_pid 2>/dev/null && break
		sshd_pid=
	done
	sshd_why="sshd does not start here, which its log explains: $(tail -n 1 "$sshd_dir/log" 2>/dev/null)"
	test -n "$sshd_pid" || return 1
	"${python:-python3}" "$NVMTOP_SRC/tests/tools/tcpproxy.py" "$sshd_port" >"$sshd_dir/proxy-port" &
	proxy_pid=$!
	for i in $(seq 200); do
		test -s "$sshd_dir/proxy-port" && break
		sleep 0.05
	done
	sshd_config "$sshd_dir" "$sshd_port" "$(cat "$sshd_dir/proxy-port")"
	ssh="ssh -F $sshd_dir/client-direct"
	sshc="ssh -F $sshd_dir/client-proxy"
	$ssh rig true </dev/null >/dev/null 2>"$sshd_dir/why" && $sshc rig true </dev/null 2>/dev/null && return 0
	sshd_why="$(id -un) cannot log in here, usermod -p '*' unlocks an account: $(tail -n 1 "$sshd_dir/log")"
	sshd_end
	return 1
}

sshd_freeze() {
	kill -STOP $proxy_pid
}

sshd_thaw() {
	kill -CONT $proxy_pid
}

sshd_end() {
	test -z "$proxy_pid" || kill -9 $proxy_pid 2>/dev/null
	test -z "$sshd_pid" || kill $sshd_pid 2>/dev/null
	sshd_pid= proxy_pid=
}
