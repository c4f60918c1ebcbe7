#!/bin/busybox sh
# The guest's first steps: modules, disks, a root that can be written on top of the read-only
# runtime, then agent.pl in its place. Run with `jobq.probe` it only says that it has come this far.
/bin/busybox mkdir -p /proc /sys /dev /lower /upper /root
/bin/busybox mount -t proc none /proc
/bin/busybox mount -t devtmpfs none /dev
if /bin/busybox grep -q jobq.probe /proc/cmdline; then
  echo JOBQ-BOOTED >/dev/console
  /bin/busybox poweroff -f
fi
for module in $(/bin/busybox cat /modules/order); do
  /bin/busybox insmod "/modules/$module.ko" || echo "cannot load $module"
done
/bin/busybox mount -t squashfs -o ro /dev/vda /lower || echo "cannot mount the runtime"
/bin/busybox mount -t tmpfs -o mode=755 none /upper
/bin/busybox mkdir /upper/data /upper/work
/bin/busybox mount -t overlay -o lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work none /root
for name in proc sys dev run tmp; do /bin/busybox mkdir -p "/root/$name"; done
/bin/busybox mount -t proc none /root/proc
/bin/busybox mount -t sysfs none /root/sys
/bin/busybox mount -t devtmpfs none /root/dev
/bin/busybox mkdir -p /root/dev/shm /root/dev/pts
/bin/busybox mount -t tmpfs none /root/dev/shm
/bin/busybox mount -t devpts none /root/dev/pts
/bin/busybox ln -sf /proc/self/fd /root/dev/fd
for at in stdin:0 stdout:1 stderr:2; do
  /bin/busybox ln -sf "/proc/self/fd/${at#*:}" "/root/dev/${at%:*}"
done
/bin/busybox ip link set lo up 2>/dev/null
/bin/busybox hostname jobq
exec /bin/busybox switch_root /root /usr/bin/perl /usr/lib/jobq/agent.pl
