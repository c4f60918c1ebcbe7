# Memory limits by cgroup, for warden.pl: one cgroup for each prepared process, so that the kernel
# keeps the limit over the whole tree, between two looks as well.
#
#   <place>/jobq-<owner>-<pid of the monitor>-<n>     made by the monitor, removed by it; by the
#                                                     warden when it died; else by journal.ts
#
# Version 1: below the cgroup we are in. Version 2 gives controllers only to the children of a
# cgroup without processes, so there it is the nearest cgroup above that passes `memory` on. A limit
# that somebody set on the way is not left: then there is no cgroup.
use strict;
use warnings;
use Fcntl qw(O_WRONLY);

use constant TRIED_BYTES => 67_108_864;
# How far below its limit a cgroup can be when the kernel finds that it is full.
use constant BATCH_BYTES => 1_048_576;

# Where cgroups can be made, by doing once all that is done for a handler; undef where they cannot.
# Gives a place: version, and base, what the path of each begins with.
sub cgroup_place {
    my ($name) = @_;
    for my $place ( cgroup_v1(), cgroup_v2() ) {
        $place->{base} = "$place->{directory}/$name";
        my $made = cgroup_make( $place, 'try' ) or next;
        my $works = cgroup_limit( $place, $made, TRIED_BYTES )
          && slurp( $made . '/' . ( $place->{version} == 1 ? 'memory.limit_in_bytes' : 'memory.max' ) )
          =~ /^${\ TRIED_BYTES}\n/
          && cgroup_tells_kills( $place, $made );
        if ($works) {
            my $pid = fork();
            POSIX::_exit( cgroup_enter($made) ? 0 : 1 ) if defined $pid && $pid == 0;
            $works = defined $pid && waitpid( $pid, 0 ) == $pid && $? == 0;
        }
        return $place if cgroup_remove($made) && $works;
    }
    return undef;
}

sub cgroup_v1 {
    my ($own) = slurp('/proc/self/cgroup') =~ /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(.*)$/m;
    my ( undef, $directory ) = cgroup_directory( $own, qr/cgroup \S+ (?:\S*,)?memory(?:,|$)/m );
    # Without a hierarchy (before Linux 5.11) a cgroup below is not held by the limits above.
    return if !defined $directory || slurp("$directory/memory.use_hierarchy") =~ /^0/;
    return { version => 1, directory => $directory };
}

sub cgroup_v2 {
    my ($own) = slurp('/proc/self/cgroup') =~ /^0::(.*)$/m;
    my ( $top, $directory ) = cgroup_directory( $own, qr/cgroup2 /m );
    while ( defined $directory ) {
        my $passed_on = slurp("$directory/cgroup.subtree_control");
        return { version => 2, directory => $directory } if $passed_on =~ /\bmemory\b/;
        return if $directory eq $top;
        return if grep { slurp("$directory/memory.$_") =~ /^\d/ } qw(max high);
        $directory =~ s{/[^/]+$}{};
    }
    return;
}

# Where the hierarchy with this type is mounted, and our cgroup in it.
sub cgroup_directory {
    my ( $own, $type ) = @_;
    return if !defined $own;
    for ( split /\n/, slurp('/proc/self/mountinfo') ) {
        my ( $root, $top, $rest ) = /^\d+ \d+ \S+ (\S+) (\S+) .*? - (.*)$/ or next;
        next if $rest !~ /^$type/;
        s/\\(\d{3})/chr oct $1/ge for $root, $top;
        $root = '' if $root eq '/';
        # A path that leads out of what is mounted (`/..`), or that is not below it.
        next if $own =~ m{^/\.\.} || "$own/" !~ m{^\Q$root\E/};
        return ( $top, ( $top . substr $own, length $root ) =~ s{/+$}{}r );
    }
    return;
}

# A cgroup, without a limit yet; undef when it cannot be made.
sub cgroup_make {
    my ( $place, $suffix ) = @_;
    my $cgroup = "$place->{base}-$suffix";
    return undef if !mkdir $cgroup, 0755;
    if ( $place->{version} == 2 ) {
        cgroup_write( "$cgroup/memory.swap.max",  0 );
        cgroup_write( "$cgroup/memory.oom.group", 1 );
    }
    return $cgroup;
}

# Moves the calling process.
sub cgroup_enter { return cgroup_write( "$_[0]/cgroup.procs", 0 ) }

sub cgroup_limit {
    my ( $place, $cgroup, $bytes ) = @_;
    return cgroup_write( "$cgroup/memory.max", $bytes ) if $place->{version} == 2;
    # In this order: memory with swap may not be less than memory.
    my $both = "$cgroup/memory.memsw.limit_in_bytes";
    return cgroup_write( "$cgroup/memory.limit_in_bytes", $bytes )
      && ( !-e $both || cgroup_write( $both, $bytes ) );
}

# Whether the kernel would kill, and count what it killed (version 1: since Linux 4.13).
sub cgroup_tells_kills {
    my ( $place, $cgroup ) = @_;
    return slurp("$cgroup/memory.events") =~ /^oom_kill /m if $place->{version} == 2;
    return slurp("$cgroup/memory.oom_control") =~ /^oom_kill_disable 0\n.*^oom_kill \d/ms;
}

# Whether the kernel killed a process in it, for its limit and not for a machine without memory.
sub cgroup_killed {
    my ( $place, $cgroup ) = @_;
    if ( $place->{version} == 2 ) {
        my $events = slurp("$cgroup/memory.events");
        return $events =~ /^oom_kill [1-9]/m && $events =~ /^oom [1-9]/m;
    }
    return 0 if slurp("$cgroup/memory.oom_control") !~ /^oom_kill [1-9]/m;
    # Not by failcnt: of memory with swap, Linux 6.18 counts no failures. Charges come in batches.
    my $most = slurp("$cgroup/memory.memsw.max_usage_in_bytes")
      || slurp("$cgroup/memory.max_usage_in_bytes");
    return $most + BATCH_BYTES >= slurp("$cgroup/memory.limit_in_bytes");
}

# Removes a cgroup in which nothing runs, with those that a handler made in it.
sub cgroup_remove {
    my ($cgroup) = @_;
    if ( !rmdir $cgroup ) {
        opendir( my $list, $cgroup ) or return $!{ENOENT};
        cgroup_remove("$cgroup/$_") for grep { !/^\.\.?$/ && -d "$cgroup/$_" } readdir $list;
        return rmdir $cgroup;
    }
    return 1;
}

# Removes those whose path begins so after the base: `-`, or `-<monitor>-`.
sub cgroup_remove_all {
    my ( $place, $start ) = @_;
    my ( $directory, $name ) = "$place->{base}$start" =~ m{^(.*)/(.*)$};
    opendir( my $list, $directory ) or return;
    cgroup_remove("$directory/$_") for grep { /^\Q$name\E/ } readdir $list;
}

sub cgroup_write {
    my ( $path, $text ) = @_;
    sysopen( my $file, $path, O_WRONLY ) or return 0;
    return defined syswrite $file, $text;
}

1;
