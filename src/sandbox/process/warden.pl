#!/usr/bin/perl
# The warden: starts handlers for jobq-dev and leaves nothing of them behind.
#
#   perl warden.pl SOCKET [NAME]
#
# With a NAME, memory is limited by cgroups named so where they can be had (cgroup.pl).
#
# jobq-dev (src/sandbox/process/warden.ts) holds this process's stdin open for as long as it lives.
# For each connection to SOCKET the warden forks a monitor, which runs one command after the other:
#
#   jobq-dev ──stdin: "kill PID", EOF = jobq-dev is gone──▶ warden
#      │                                                      │ fork, one a connection
#      └── frames ◀─────────────────────────────────────▶ monitor ── fork, setsid, exec ──▶ handler
#
# Why not node's own spawn: a handler's descendants that call setsid, fork twice or clear their
# environment can be found for certain only by a "child subreaper" (prctl(2)), to which the kernel
# gives every orphan below it. Node can neither be one nor wait for such orphans, and its stdio is
# socket pairs, on which a shell's `> /dev/stderr` fails. Perl is part of every Debian, Ubuntu and
# macOS; only modules of Debian's perl-base are used (so no Time::HiRes).
#
# Frames, both ways: one letter, the payload's length (4 bytes, big endian), the payload.
#   to the monitor    R  run, after the end of the last one: strings that each end with NUL: memory
#                        limit in bytes (0: none), working directory, number of arguments, the
#                        arguments, then the environment as NAME=value
#                     K  kill: end the run now, if there is one
#   from the monitor  M  its pid, once
#                     O  bytes from stdout          E  bytes from stderr
#                     F  "ERRNO TEXT": the command could not be started (then X follows)
#                     L  the command line of a process that the handler's own left running when it
#                        ended by itself, one frame each (then X follows)
#                     X  "REASON STATUS PEAK": the end; nothing of the command runs any more.
#                        REASON is what came first: exit, kill, memory, warden (it died);
#                        memory also for an exit after the kernel killed for the cgroup's limit;
#                        STATUS is wait(2)'s; PEAK is the largest resident memory, in bytes
use strict;
use warnings;
use Errno qw(EAGAIN EINTR);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use POSIX ();
use Socket qw(AF_UNIX SOCK_STREAM SOMAXCONN pack_sockaddr_un);

# Memory is looked at this often. A peak that is over sooner can be missed.
use constant SAMPLE_SECONDS => 0.1;
# A run's first looks come sooner: most handlers end within a second.
use constant FIRST_SAMPLE_SECONDS => 0.02;
# Output waits in the pipes, and so in the handler, while jobq-dev is this far behind.
use constant BACKLOG_BYTES => 262_144;
use constant READ_BYTES    => 65_536;
# How many processes that were left behind are named, and how much of each one's command line.
use constant MOST_LEFT       => 10;
use constant LONGEST_COMMAND => 200;
# How long to sleep between looks where the kernel has no signalfd (macOS).
use constant POLL_SECONDS => 0.02;
# Open files a handler may have: the usual login default, not the much higher one node sets itself.
use constant OPEN_FILES => 1024;

my ( $sysname, undef, undef, undef, $machine ) = POSIX::uname();
my %SYS = syscall_numbers();
my $TICKS = POSIX::sysconf( POSIX::_SC_CLK_TCK() );
my $PAGE = POSIX::sysconf( POSIX::_SC_PAGESIZE() );
my $has_children_files = -e "/proc/$$/task/$$/children";    # CONFIG_PROC_CHILDREN
my $has_proc           = -e "/proc/$$/stat";
my $cgroups;         # where they are made (see cgroup.pl), or undef
my $prepared = 0;    # how many processes this monitor prepared

require( __FILE__ =~ s{[^/]*$}{cgroup.pl}r );
warden(@ARGV);

# ---------------------------------------------------------------------------------- the warden

sub warden {
    my ( $path, $cgroup_name ) = @_;
    # A Ctrl-C goes to a terminal's whole foreground group; jobq-dev alone decides what it means.
    POSIX::setsid();
    $SIG{$_} = 'IGNORE' for ignored_signals();
    name_process('jobq-warden');
    close_inherited();

    my $subreaper = become_subreaper();
    $cgroups = cgroup_place($cgroup_name) if defined $cgroup_name && $has_proc;
    my $signals = child_signals();
    socket( my $server, AF_UNIX, SOCK_STREAM, 0 ) or die "socket: $!\n";
    bind( $server, pack_sockaddr_un($path) ) or die "bind $path: $!\n";
    listen( $server, SOMAXCONN ) or die "listen: $!\n";
    # Monitors see the end of this pipe when the warden dies, however it dies.
    pipe( my $alive, my $living ) or die "pipe: $!\n";
    say_line( 'ready', $subreaper ? 1 : 0, $cgroups ? $cgroups->{base} : '' );

    my %monitors;    # pid => 1
    my %lost;        # pids of monitors that died before their work was done
    my $commands = '';
    while (1) {
        my $read = bits( fileno($server), 0, $signals );
        my $wait = %lost ? 0.002 : defined $signals ? undef : POLL_SECONDS;
        my $ready = select( $read, undef, undef, $wait );
        $read = '' if $ready <= 0;

        clear_signals($signals) if defined $signals;
        while ( ( my $pid = waitpid( -1, POSIX::WNOHANG() ) ) > 0 ) {
            $lost{$pid} = 1 if delete $monitors{$pid} && $? != 0;
        }
        # What a dead monitor watched is now the warden's own child.
        if ( %lost && !end_strays( \%monitors ) ) {
            for my $pid ( keys %lost ) {
                cgroup_remove_all( $cgroups, "-$pid-" ) if $cgroups;
                say_line( 'gone', $pid );
            }
            %lost = ();
        }

        if ( vec( $read, fileno($server), 1 ) && accept( my $connection, $server ) ) {
            my $pid = fork();
            if ( defined $pid && $pid == 0 ) {
                close $server;
                close $living;
                # Not just closed: the next pipe would get these numbers and reach the handler.
                my $null = POSIX::open( '/dev/null', POSIX::O_RDWR() );
                POSIX::dup2( $null, $_ ) for 0, 1;
                POSIX::close($null);
                monitor( $connection, $alive, $signals );
                POSIX::_exit(0);
            }
            # A failed fork closes the connection: jobq-dev sees a run that was lost.
            $monitors{$pid} = 1 if defined $pid;
            close $connection;
        }
        if ( vec( $read, 0, 1 ) ) {
            my $got = sysread( STDIN, $commands, 4096, length $commands );
            last if defined $got && $got == 0 || !defined $got && $! != EINTR && $! != EAGAIN;
            while ( $commands =~ s/^([^\n]*)\n// ) {
                # Only a monitor that was not waited for: its pid cannot belong to another process.
                kill 'KILL', $1 if $1 =~ /^kill (\d+)$/ && $monitors{$1};
            }
        }
    }
    # jobq-dev is gone or wants the end. The socket goes first: nobody can start anything more.
    close $server;
    unlink $path;
    rmdir $path =~ s{/[^/]*$}{}r;
    end_all();
    cgroup_remove_all( $cgroups, '-' ) if $cgroups;
    POSIX::_exit(0);
}

# Kills children that are no monitors, with all that is below them; how many were found. A scan
# that finds none is right, although processes come and go meanwhile: only the warden reaps its
# children, so each is either running or still there as a zombie while it scans.
sub end_strays {
    my ($monitors) = @_;
    my $above = parents();
    my @strays = grep { $above->{$_} == $$ && !$monitors->{$_} } keys %$above;
    my @below = map { $_, below( $_, $above ) } @strays;
    kill 'STOP', @below;
    kill 'KILL', @below;
    return scalar @strays;
}

# --------------------------------------------------------------------------------- a monitor

# Runs commands, one after the other, until the connection ends. It is kept for the next command
# because a fork of this process costs milliseconds; it is as good as new, since nothing of a
# command is left when its end is told. For the same reason the process of the next command is made
# while there is none.
sub monitor {
    my ( $connection, $alive, $signals ) = @_;
    name_process('jobq-monitor');
    become_subreaper();
    unblock($connection);

    my ( $incoming, $outgoing ) = ( '', frame( M => $$ ) );
    my $next = prepare_run( $connection, $alive );
    my $run;     # while a command runs
    my $used;    # the cgroup of the last one

    # The first reason to end a command wins: then there is none for a later one to end.
    my $end = sub {
        my ($reason) = @_;
        return if !$run;
        $outgoing .= frame( L => $_ ) for $reason eq 'exit' ? left_behind($run) : ();
        end_all($run);
        $used = $run->{cgroup};
        if ( $reason eq 'exit' && killed_for_memory($run) ) { $reason = 'memory' }
        for my $letter ( keys %{ $run->{streams} } ) {
            1 while read_output( $letter, $run->{streams}, \$outgoing );
        }
        my $failure = read_failure( $run->{failure} );
        $outgoing .= frame( F => $failure ) if $failure ne '';
        $outgoing .= frame( X => "$reason $run->{status} $run->{peak}" );
        undef $run;
    };

    while (1) {
        my $behind = length($outgoing) > BACKLOG_BYTES;
        my $streams = $run ? $run->{streams} : {};
        my $read = bits( fileno($connection), fileno($alive), $signals,
            $behind ? () : map { fileno $_ } values %$streams );
        my $write = $outgoing eq '' ? undef : bits( fileno $connection );
        my $wait = !$run ? undef : defined $signals ? $run->{interval} : POLL_SECONDS;
        if ( select( $read, $write, undef, $wait ) <= 0 ) { ( $read, $write ) = ( '', undef ) }

        if ( vec( $read, fileno $connection, 1 ) ) {
            my $got = sysread( $connection, $incoming, READ_BYTES, length $incoming );
            last if defined $got ? $got == 0 : $! != EAGAIN && $! != EINTR;
            while ( my ( $letter, $payload ) = take_frame( \$incoming ) ) {
                $end->('kill') if $letter eq 'K';
                next if $letter ne 'R' || $run;
                $run = start( $next || prepare_run( $connection, $alive ), $payload );
                undef $next;
                $end->('exit') if !$run->{pid};
            }
        }
        for my $letter ( keys %$streams ) {
            next if !vec( $read, fileno $streams->{$letter}, 1 );
            read_output( $letter, $streams, \$outgoing );
        }
        clear_signals($signals) if defined $signals;
        if ($run) {
            reap($run);
            $end->('exit') if $run->{over};
        }
        if ( $run && seconds() >= $run->{next_sample} ) {
            my $bytes = memory_used( $run->{limit} );
            $run->{peak} = $bytes if $bytes > $run->{peak};
            $run->{interval} *= 2;
            $run->{interval} = SAMPLE_SECONDS if $run->{interval} > SAMPLE_SECONDS;
            $run->{next_sample} = seconds() + $run->{interval};
            $end->('memory')
              if $run->{limit} && $bytes > $run->{limit} || killed_for_memory($run);
        }
        if ( vec( $read, fileno $alive, 1 ) ) {
            $end->('warden');
            # The connection takes it, or jobq-dev is gone too and the end of it says so.
            while ( $outgoing ne '' ) { last if !send_some( $connection, \$outgoing, 1 ) }
            last;
        }
        # Also what came up just now: most often it can be sent without another look.
        last if $outgoing ne '' && !send_some( $connection, \$outgoing );
        if ( !$run && !$next && $outgoing eq '' ) {
            cgroup_remove($used) if defined $used;
            $next = prepare_run( $connection, $alive );
        }
    }
    # jobq-dev is gone or lets go of this monitor: there is nobody to tell.
    $end->('kill');
    end_all();
    cgroup_remove_all( $cgroups, "-$$-" ) if $cgroups;
    POSIX::_exit(0);
}

# Sends what the connection takes now, or with $wait, soon; false when it is broken.
sub send_some {
    my ( $connection, $outgoing, $wait ) = @_;
    select( undef, my $write = bits( fileno $connection ), undef, 1 ) if $wait;
    my $sent = syswrite( $connection, $$outgoing, READ_BYTES );
    if ( defined $sent ) { substr( $$outgoing, 0, $sent, '' ) }
    return defined $sent || $! == EAGAIN || $! == EINTR;
}

# Makes a process that waits for its command, given the handles it must not keep. Gives a run:
#   pid          of the handler's own process; 0 when there could not be one
#   order        the pipe that takes the command
#   over         whether that process ended, and then its `status`, as wait(2) tells it
#   streams      frame letter => pipe
#   failure      a pipe that says why it could not be started
#   cgroup       that it is in, or undef
#   limit, peak  memory, in bytes; next_sample, interval: when it is looked at, in seconds
sub prepare_run {
    my @foreign = @_;
    my $cgroup  = $cgroups && cgroup_make( $cgroups, "$$-" . ++$prepared );
    pipe( my $order,   my $order_end )   or die "pipe: $!\n";
    pipe( my $out,     my $out_end )     or die "pipe: $!\n";
    pipe( my $err,     my $err_end )     or die "pipe: $!\n";
    pipe( my $failure, my $failure_end ) or die "pipe: $!\n";
    my $pid = fork();
    if ( defined $pid && $pid == 0 ) {
        # Held here, they would hide from the others that this process's monitor died.
        close $_ for @foreign, $order_end;
        # By itself, since it takes milliseconds. Should it fail, memory is still watched.
        cgroup_enter($cgroup) if $cgroup;
        # Perl opens everything above 2 close-on-exec: the handler gets these three only, of which
        # the first is /dev/null already.
        POSIX::dup2( fileno $out_end, 1 );
        POSIX::dup2( fileno $err_end, 2 );
        POSIX::setsid();
        limit_resource( 4, 0, 0 );          # RLIMIT_CORE: no core files
        limit_resource( 7, OPEN_FILES );    # RLIMIT_NOFILE, the soft limit only
        my $command = '';
        while ( sysread( $order, $command, READ_BYTES, length $command ) ) { }
        become($command) if $command ne '';
        syswrite( $failure_end, ( $! + 0 ) . " $!" ) if $command ne '';
        POSIX::_exit(126);
    }
    if ( !defined $pid ) {
        syswrite( $failure_end, ( $! + 0 ) . " fork: $!" );
        $pid = 0;
    }
    unblock($_) for $out, $err, $failure;
    return {
        pid      => $pid,
        order    => $order_end,
        status   => 0,
        peak     => 0,
        interval => FIRST_SAMPLE_SECONDS,
        streams  => { O => $out, E => $err },
        failure  => $failure,
        cgroup   => $cgroup,
    };
}

# Gives a prepared run the command of an R frame.
sub start {
    my ( $run, $command ) = @_;
    ( $run->{limit} ) = split /\0/, $command, 2;
    $run->{next_sample} = seconds() + $run->{interval};
    cgroup_limit( $cgroups, $run->{cgroup}, $run->{limit} ) if $run->{cgroup} && $run->{limit};
    # Blocking, but the other side only reads.
    while ( $command ne '' ) {
        my $sent = syswrite( $run->{order}, $command ) or last;
        substr( $command, 0, $sent, '' );
    }
    close delete $run->{order};
    return $run;
}

# In the handler's process: becomes the command. Returns, with $! set, only when it cannot.
sub become {
    my ($command) = @_;
    my ( undef, $directory, @rest ) = split /\0/, $command, -1;
    pop @rest;    # after the last NUL
    my @arguments = splice @rest, 0, shift @rest;
    chdir $directory or return;
    # Ignored signals and a blocked mask would survive the exec.
    $SIG{$_} = 'DEFAULT' for ignored_signals();
    POSIX::sigprocmask( POSIX::SIG_SETMASK(), POSIX::SigSet->new );
    %ENV = map { split /=/, $_, 2 } @rest;
    no warnings 'exec';
    exec { $arguments[0] } @arguments;
}

# Moves what a stream has now into frames; false when there is nothing (more) to read.
sub read_output {
    my ( $letter, $streams, $outgoing ) = @_;
    return 0 if !$streams->{$letter};
    my $got = sysread( $streams->{$letter}, my $bytes, READ_BYTES );
    if ($got) {
        $$outgoing .= frame( $letter => $bytes );
        return 1;
    }
    # A read that failed with EAGAIN leaves the pipe open; its end closes it.
    delete $streams->{$letter} if defined $got;
    return 0;
}

sub read_failure {
    my ($pipe) = @_;
    my $got = sysread( $pipe, my $text, 4096 );
    return $got ? $text : '';
}

# ------------------------------------------------------------------------------ ending a tree

# Command lines of what still runs when the handler's own process has ended, at most a few.
sub left_behind {
    my ($run) = @_;
    # Most often there are no children at all, and nothing has to be looked for.
    return if !$has_proc || !reap($run);
    my @left;
    for my $pid ( below($$) ) {
        my $stat = slurp("/proc/$pid/stat");
        # Gone, or on its way: a zombie runs no more.
        next if substr( $stat, rindex( $stat, ')' ) + 1 ) !~ /^ [^ZX] /;
        my $line = slurp("/proc/$pid/cmdline") =~ tr/\0/ /r;
        $line =~ s/ +$//;
        push @left, substr( $line, 0, LONGEST_COMMAND ) if $line ne '';
        last if @left == MOST_LEFT;
    }
    return @left;
}

# Kills everything below this process and waits for it, until there is nothing to wait for: that
# answer is certain, since each descendant hangs below a child or, orphaned, became one.
sub end_all {
    my ($run) = @_;
    my $pause = 0.0005;
    while ( reap($run) ) {
        # First stop all, until a look finds no new one: what is stopped cannot fork away from the
        # kill (a fork bomb makes children faster than one pass can kill them).
        my %found;
        for ( 1 .. 50 ) {
            my @new = grep { !$found{$_}++ } below($$);
            last if !@new;
            kill 'STOP', @new;
        }
        kill 'KILL', keys %found;
        select( undef, undef, undef, $pause );
        $pause *= 2 if $pause < 0.02;
    }
}

# Waits for the children that ended, without waiting for others; false when there are no children
# at all. Notes in the run how its handler ended, and the largest memory of a single process.
sub reap {
    my ($run) = @_;
    while (1) {
        my ( $pid, $status, $memory ) = wait_for_child();
        return $pid == 0 if $pid <= 0;
        next if !$run;
        $run->{peak} = $memory if $memory > $run->{peak};
        ( $run->{over}, $run->{status} ) = ( 1, $status ) if $pid == $run->{pid};
    }
}

# wait4(2), which tells what one child used: (pid, status, largest resident memory in bytes).
sub wait_for_child {
    if ( !$SYS{wait4} ) {
        my $pid = waitpid( -1, POSIX::WNOHANG() );
        return ( $pid, $?, 0 );
    }
    my ( $status, $usage ) = ( "\0" x 4, "\0" x 256 );
    my $pid = syscall( $SYS{wait4}, -1, $status, POSIX::WNOHANG(), $usage );
    return ( $pid, unpack( 'i', $status ), 1024 * unpack( 'x32 q', $usage ) );
}

# Pids of all processes below one, itself not included.
sub below {
    my ( $root, $above ) = @_;
    if ( $has_children_files && !$above ) {
        my @found = children_of($root);
        for ( my $i = 0 ; $i < @found ; $i++ ) { push @found, children_of( $found[$i] ) }
        return @found;
    }
    $above ||= parents();
    my %children;
    push @{ $children{ $above->{$_} } }, $_ for keys %$above;
    my @found = @{ $children{$root} || [] };
    for ( my $i = 0 ; $i < @found ; $i++ ) { push @found, @{ $children{ $found[$i] } || [] } }
    return @found;
}

sub children_of {
    my ($pid) = @_;
    opendir( my $threads, "/proc/$pid/task" ) or return;
    my @found;
    for my $thread ( grep { /^\d/ } readdir $threads ) {
        push @found, split ' ', slurp("/proc/$pid/task/$thread/children");
    }
    return @found;
}

# pid => parent's pid, of every process there is.
sub parents {
    my %above;
    if ( !$has_proc ) {    # macOS
        my $lister = open( my $list, '-|', 'ps', '-axo', 'pid=,ppid=' ) or return {};
        while (<$list>) { $above{$1} = $2 if /(\d+)\s+(\d+)/ }
        delete $above{$lister};
        return \%above;
    }
    opendir( my $proc, '/proc' ) or return {};
    for my $pid ( grep { /^\d/ } readdir $proc ) {
        # The name, in parentheses, may hold anything, also parentheses.
        my $stat = slurp("/proc/$pid/stat");
        $above{$pid} = $1 if substr( $stat, rindex( $stat, ')' ) + 1 ) =~ /^ \S (\d+)/;
    }
    return \%above;
}

# -------------------------------------------------------------------------------- memory

# Bytes that the tree holds. Resident memory is cheap to read, but counts a page that processes
# share once for each; when it says "too much", the kernel's exact share decides, and of that only
# what a cgroup could not give back either (not the pages of files).
sub memory_used {
    my ($limit) = @_;
    return 0 if !$has_proc;
    my @pids = below($$);
    my $resident = 0;
    $resident += resident($_) for @pids;
    return $resident if !$limit || $resident <= $limit;
    my $exact = 0;
    for my $pid (@pids) {
        my $rollup = slurp("/proc/$pid/smaps_rollup");
        my $share  = 0;
        $share += 1024 * $1 while $rollup =~ /^Pss_(?:Anon|Shmem):\s+(\d+)/mg;
        # None: an older kernel, or another user's process; or it just ended, and then 0 is right.
        $exact += $share || resident($pid);
    }
    return $exact;
}

# Whether the kernel killed a process of the run, because its cgroup came to the limit.
sub killed_for_memory {
    my ($run) = @_;
    return 0 if !$run->{cgroup} || !cgroup_killed( $cgroups, $run->{cgroup} );
    # That much it held: what the kernel could take back, it takes before it kills.
    $run->{peak} = $run->{limit} if $run->{limit} > $run->{peak};
    return 1;
}

sub resident {
    my ($pid) = @_;
    return $PAGE * ( ( split ' ', slurp("/proc/$pid/statm") )[1] || 0 );
}

# ------------------------------------------------------------------------------ the system

# Perl has no names for these calls. x86_64 has its own numbers, later architectures share theirs.
sub syscall_numbers {
    return () if $sysname ne 'Linux';
    return ( prctl => 157, prlimit64 => 302, signalfd4 => 289, wait4 => 61 )
      if $machine eq 'x86_64';
    return ( prctl => 167, prlimit64 => 261, signalfd4 => 74, wait4 => 260 )
      if $machine =~ /^(?:aarch64|riscv64|loongarch64)$/;
    return ();
}

sub become_subreaper {
    return 0 if !$SYS{prctl};
    return syscall( $SYS{prctl}, 36, 1, 0, 0, 0 ) == 0;    # PR_SET_CHILD_SUBREAPER
}

# What `ps -e` and `top` show. Assigning to $0 would also wipe the environment in /proc, which marks
# this process as jobq-dev's (see journal.ts).
sub name_process {
    my ($name) = @_;
    syscall( $SYS{prctl}, 15, $name ) if $SYS{prctl};    # PR_SET_NAME
}

# Sets a soft limit (never above the hard one) and, if given, the hard one.
sub limit_resource {
    my ( $resource, $soft, $hard ) = @_;
    return if !$SYS{prlimit64};
    my $old = "\0" x 16;
    return if syscall( $SYS{prlimit64}, 0, $resource, 0, $old ) != 0;
    my ( undef, $most ) = unpack 'QQ', $old;
    $soft = $most if $soft > $most;
    my $new = pack 'QQ', $soft, defined $hard ? $hard : $most;
    syscall( $SYS{prlimit64}, 0, $resource, $new, 0 );
}

# A descriptor that is readable when a child ended, or undef where there is none. A signal handler
# would not do: Perl runs it between operations, so a signal just before select() is seen late.
sub child_signals {
    return undef if !$SYS{signalfd4};
    my $set = POSIX::SigSet->new( POSIX::SIGCHLD() );
    POSIX::sigprocmask( POSIX::SIG_BLOCK(), $set );
    my $mask = pack 'Q', 1 << ( POSIX::SIGCHLD() - 1 );
    my $fd = syscall( $SYS{signalfd4}, -1, $mask, 8, 0x80800 );    # SFD_CLOEXEC | SFD_NONBLOCK
    return $fd if $fd >= 0;
    POSIX::sigprocmask( POSIX::SIG_UNBLOCK(), $set );
    return undef;
}

sub clear_signals {
    my ($fd) = @_;
    1 while POSIX::read( $fd, my $information, 1280 );
}

# What the developer's shell left open would be open in every handler. Before anything is opened.
sub close_inherited {
    opendir( my $list, '/dev/fd' ) or return;
    my @open = grep { /^\d+$/ && $_ > 2 } readdir $list;
    closedir $list;
    POSIX::close($_) for @open;
}

# A handler that signals its parent or its group ends neither.
sub ignored_signals {
    return qw(HUP INT QUIT USR1 USR2 ALRM TERM PIPE TSTP TTIN TTOU VTALRM PROF);
}

# ------------------------------------------------------------------------------- small parts

# Seconds on a clock that only goes on, to 0.01.
sub seconds { return ( POSIX::times() )[0] / $TICKS }

sub frame { my ( $letter, $payload ) = @_; return pack 'a N/a*', $letter, $payload }

# Takes the first whole frame off a buffer: (letter, payload), or nothing.
sub take_frame {
    my ($buffer) = @_;
    return if length $$buffer < 5;
    my $length = unpack 'x N', $$buffer;
    return if length $$buffer < 5 + $length;
    my $whole = substr( $$buffer, 0, 5 + $length, '' );
    return unpack 'a x4 a*', $whole;
}

sub bits {
    my $set = '';
    vec( $set, $_, 1 ) = 1 for grep { defined } @_;
    return $set;
}

sub unblock {
    my ($handle) = @_;
    fcntl( $handle, F_SETFL, fcntl( $handle, F_GETFL, 0 ) | O_NONBLOCK );
}

sub slurp {
    my ($path) = @_;
    open( my $file, '<', $path ) or return '';
    local $/;
    my $text = <$file>;
    return defined $text ? $text : '';
}

sub say_line { syswrite( STDOUT, join( ' ', @_ ) . "\n" ) }
