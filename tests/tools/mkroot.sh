#!/bin/sh
# Copies the kernel files that nvmtop reads from this machine to a folder or tarball, so
# that `nvmtop --sysroot FOLDER` shows this board elsewhere.
#
# Reads only the files listed below, each once, by name, and never a whole directory:
# reading some sysfs files has side effects (nvgpu's counters_reset clears the counters,
# thermal_trip_event_block waits for a trip). None has a serial number, MAC or host name.
set -u
LC_ALL=C
export LC_ALL

usage() {
	echo "usage: $0 [--from DIR] FOLDER|FILE.tar.gz" >&2
	exit 2
}

from=
if [ "${1-}" = --from ]; then
	[ $# -ge 2 ] || usage
	from=${2%/}
	shift 2
fi
[ $# -eq 1 ] || usage
case $1 in
'' | -*) usage ;;
esac
if [ -e "$1" ]; then
	echo "$0: $1 already exists" >&2
	exit 1
fi
case $1 in
*.tar.gz | *.tgz)
	work=$(mktemp -d "${TMPDIR:-/tmp}/mkroot.XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	out=$work/root
	;;
*) out=$1 ;;
esac
mkdir -p "$out" || exit 1

copied=0
unreadable=0

folder() { [ -d "$1" ] || mkdir -p "$1"; }

# copy PATH: recreate the symbolic links on the way, then copy the file. An unreadable file becomes an
# empty directory, which cannot be read either.
copy() {
	done=
	rest=$1
	links=0
	while [ -n "$rest" ]; do
		part=${rest%%/*}
		rest=${rest#"$part"}
		rest=${rest#/}
		case $part in
		'' | .) continue ;;
		..)
			done=${done%/*}
			continue
			;;
		esac
		if [ -L "$from$done/$part" ]; then
			links=$((links + 1))
			[ $links -le 20 ] || return 0
			target=$(readlink "$from$done/$part") || return 0
			folder "$out$done"
			[ -L "$out$done/$part" ] || ln -s "$target" "$out$done/$part"
			rest=$target${rest:+/$rest}
			case $target in
			/*) done= ;;
			esac
		else
			done=$done/$part
		fi
	done
	[ -e "$from$done" ] || return 0
	[ ! -e "$out$done" ] || return 0
	folder "$out${done%/*}"
	if [ ! -d "$from$done" ] && timeout 2 head -c 262144 "$from$done" >"$out$done" 2>/dev/null; then
		copied=$((copied + 1))
	elif [ ! -d "$from$done" ] || [ -z "$(ls -A "$from$done")" ]; then
		rm -f "$out$done"
		mkdir -p "$out$done"
		unreadable=$((unreadable + 1))
	fi
}

# each PATTERN...: every path that matches a pattern; patterns have no blanks.
each() {
	for pattern in "$@"; do
		for path in $from$pattern; do
			copy "${path#"$from"}"
		done
	done
}

each /proc/device-tree/model /proc/device-tree/compatible \
	/proc/stat /proc/meminfo /proc/loadavg /proc/buddyinfo /proc/sys/kernel/osrelease \
	/etc/nv_tegra_release /etc/os-release /tmp/nv_jetson_model /etc/nvpmodel.conf /var/lib/nvpmodel/status

cpu=/sys/devices/system/cpu
each $cpu/present $cpu/possible $cpu/online $cpu/offline \
	"$cpu/cpu[0-9]*/online" \
	"$cpu/cpu[0-9]*/cpufreq/scaling_cur_freq" \
	"$cpu/cpu[0-9]*/cpuidle/state[0-9]*/name" "$cpu/cpu[0-9]*/cpuidle/state[0-9]*/time"
for file in scaling_cur_freq scaling_min_freq scaling_max_freq cpuinfo_min_freq cpuinfo_max_freq \
	scaling_driver scaling_governor affected_cpus related_cpus; do
	each "$cpu/cpufreq/policy[0-9]*/$file"
done

for hwmon in '/sys/class/hwmon/hwmon[0-9]*' '/sys/class/hwmon/hwmon[0-9]*/device'; do
	each "$hwmon/name" "$hwmon/label" "$hwmon/update_interval" "$hwmon/samples" "$hwmon/rpm"
	for kind in in curr power temp fan; do
		each "$hwmon/${kind}[0-9]*_input" "$hwmon/${kind}[0-9]*_label" "$hwmon/${kind}[0-9]*_enable"
	done
	each "$hwmon/power[0-9]*_average" "$hwmon/shunt[0-9]*_resistor" \
		"$hwmon/curr[0-9]*_max" "$hwmon/curr[0-9]*_crit" "$hwmon/curr[0-9]*_crit_alarm" \
		"$hwmon/curr[0-9]*_max_alarm" \
		"$hwmon/temp[0-9]*_max" "$hwmon/temp[0-9]*_crit" \
		"$hwmon/pwm[0-9]" "$hwmon/pwm[0-9]_enable" \
		"$hwmon/oc[0-9]_throt_en" "$hwmon/oc[0-9]_event_cnt"
done
each '/sys/bus/i2c/devices/*-004[0-9a-f]/name' '/sys/bus/i2c/drivers/*/*-004[0-9a-f]/name'
# Rails without hwmon, L4T 32 and older.
for iio in '/sys/bus/i2c/drivers/ina3221x/*/iio:device*' '/sys/bus/i2c/drivers/ina3221x/*/iio_device'; do
	each "$iio/name" "$iio/rail_name_[0-9]" "$iio/in_voltage[0-9]_input" "$iio/in_current[0-9]_input" \
		"$iio/in_power[0-9]_input" "$iio/running_mode" "$iio/crit_current_limit_[0-9]" "$iio/warn_current_limit_[0-9]"
done

zone='/sys/class/thermal/thermal_zone[0-9]*'
each "$zone/type" "$zone/mode" "$zone/temp" \
	"$zone/trip_point_[0-9]*_type" "$zone/trip_point_[0-9]*_temp" \
	"$zone/cdev[0-9]*_trip_point" "$zone/cdev[0-9]*/type"
cooling='/sys/class/thermal/cooling_device[0-9]*'
each "$cooling/type" "$cooling/cur_state" "$cooling/max_state"
each /sys/devices/pwm-fan/cur_pwm /sys/devices/pwm-fan/target_pwm /sys/devices/pwm-fan/rpm_measured \
	/sys/devices/pwm-fan/tach_enable

for file in cur_freq min_freq max_freq target_freq available_frequencies governor device/of_node/name; do
	each "/sys/class/devfreq/*/$file"
done
# Thor's GPU, and power of the engines.
each /sys/bus/pci/devices/0000:01:00.0/power/runtime_status \
	'/sys/class/devfreq/*/device/power/runtime_status' \
	'/sys/block/zram[0-9]*/mm_stat'
for gpu in /sys/devices/gpu.0 /sys/devices/platform/gpu.0 /sys/devices/platform/bus@0/gpu.0 \
	'/sys/devices/platform/17000000.g*' '/sys/devices/[0-9]*.g*' \
	'/sys/devices/platform/bus@0/17000000.gpu'; do
	for file in load counters gpu_powered_on is_railgated railgate_delay \
		power/runtime_status power/control; do
		each "$gpu/$file"
	done
done

debug=/sys/kernel/debug
each $debug/cactmon/mc_all /sys/kernel/actmon_avg_activity/mc_all \
	$debug/bpmp/debug/actmon/mc_all_avg_activity $debug/bpmp/debug/actmon/mc_all_last_prd_activity \
	$debug/clk/emc/clk_rate $debug/clk/override.emc/clk_rate \
	/sys/kernel/nvpmodel_clk_cap/emc /sys/kernel/nvpmodel_emc_cap/emc_iso_cap
for file in rate max_rate min_rate mrq_rate_locked state; do
	each $debug/bpmp/debug/clk/emc/$file
done

for engine in ape se vic vic03 nvenc nvenc1 nvdec nvdec1 nvjpg nvjpg1 ofa cvnas dla0_core dla1_core \
	pva0_vps pva0_vps0 pva1_vps0; do
	each $debug/bpmp/debug/clk/$engine/rate $debug/clk/$engine/clk_rate $debug/clk/$engine/clk_enable_count
done
each "$debug/tegra-host1x*/actmon/*/module0/usage" $debug/vic/actmon_avg_norm \
	/sys/devices/platform/13e40000.host1x/15340000.vic/load

if [ $copied -eq 0 ]; then
	echo "$0: found nothing to copy below ${from:-/}" >&2
	exit 1
fi
case $1 in
*.tar.gz | *.tgz) tar -C "$out" -czf "$1" . || exit 1 ;;
esac
echo "$1: $copied files copied, $unreadable that could not be read"
if [ -z "$from" ] && [ "$(id -u)" -ne 0 ]; then
	echo "The memory controller's files (below $debug) are missing: run it with sudo to have them."
fi
