#!/usr/bin/perl
# The first process of a microVM's guest: does what jobq-dev asks for over a virtio-serial port.
#
# It is process 1, so every orphan of a handler becomes its child and is waited for. A handler runs
# in a cgroup of the guest: its memory limit is kept there, and it is ended as a whole. Only modules
# of Debian's perl-base are used.
#
# Frames, both ways, are those of the process provider's warden: one letter, the payload's length
# (4 bytes, big endian), the payload. Several strings in a payload are joined by NUL. Line feeds
# between frames mean nothing: the first bytes after a machine was restored are lost, so both sides
# begin with some.
#
#   to the guest    S  seconds, nanoseconds, seed (hex): be alive; sets the clock, stirs the seed
#                      into the kernel's random state. May come several times.
#                   B  handlers directory: makes the disk, the workspace and the directories
#                   F  root (w, h, o), type (f, d, l), mode, mtime, path, link target: the next
#                      file, directory or link. For the workspace (w) missing folders are made, and
#                      no link is followed
#                   D  bytes of the file that was begun last
#                   A  the files so far are complete: answered
#                   C  empties the workspace and the output directory: the next job
#                   X  memory limit, number of interpreter words, the words, script, number of
#                      arguments, the arguments, then the environment as NAME=value: runs a handler
#                   K  kills the handler, if one runs
#                   O  asks for the output directory
#                   W  a shell line to run before the snapshot: answered
#   from the guest  R  alive (answers S)
#                   A  answers A, B, C, W: empty, or what went wrong, after a word: `outside`, `io`
#                   1, 2  bytes of stdout, stderr
#                   L  the command line of a process that was left behind
#                   X  reason (exit, kill, memory) and wait status: the handler is over
#                   F, D  as above, without root
#                   Z  the end of the output directory: empty, or what could not be read
use strict;
use warnings;
use Errno qw(EAGAIN EEXIST EINTR ENOENT);
use Fcntl qw(:mode F_GETFD F_SETFD F_GETFL F_SETFL FD_CLOEXEC O_CREAT O_EXCL O_NONBLOCK O_RDONLY O_RDWR O_WRONLY);
use POSIX ();

use constant PIECE_BYTES => 65_536;
# What a signal that comes just before the wait for input would otherwise cost.
use constant LONGEST_WAIT_SECONDS => 0.05;
# jobq-dev holds the port open for as long as it lives; a restored machine begins without it.
use constant LONELY_SECONDS => 20;
use constant MOST_LEFT       => 10;
use constant LONGEST_COMMAND => 200;
use constant CGROUP => '/sys/fs/cgroup/job';
use constant HANDLER_PATH => '/usr/local/bin:/usr/bin:/bin';

my $machine = ( POSIX::uname() )[4];
my %SYS = $machine eq 'aarch64'
  ? ( mount => 40, clock_settime => 112, reboot => 142 )
  : ( mount => 165, clock_settime => 227, reboot => 169 );

my %ROOT = ( w => '/workspace', o => '/output' );
my ( $port, $input, $file, $fault, $job, $lonely_since ) = ( undef, '', undef, '', undef, undef );

$SIG{CHLD} = sub { };    # interrupts the wait
$SIG{PIPE} = 'IGNORE';
%ENV = ( PATH => '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME => '/root' );
# The port comes up while the kernel goes on.
until ( open_port() ) { select( undef, undef, undef, 0.01 ) }
fcntl( $port, F_SETFD, FD_CLOEXEC );
mkdir '/sys/fs/cgroup';
mount( 'none', '/sys/fs/cgroup', 'cgroup2' );
spew( '/sys/fs/cgroup/cgroup.subtree_control', '+memory +pids' );
say_alive();
serve();

sub serve {
    while (1) {
        wait_for_input();
        handle() while next_frame();
        look_after_job() if $job;
        reap() unless $job;
    }
}

# ---------------------------------------------------------------------------------- the port

# Its name has the number of the device in it.
sub open_port {
    opendir( my $folder, '/dev' ) or return 0;
    my ($name) = grep { /^vport\d+p1$/ } readdir $folder;
    return defined $name && sysopen $port, "/dev/$name", O_RDWR;
}

sub wait_for_input {
    my $readable = '';
    vec( $readable, fileno($port), 1 ) = 1;
    for my $stream ( $job ? grep { defined $_->{pipe} } @{ $job->{streams} } : () ) {
        vec( $readable, fileno( $stream->{pipe} ), 1 ) = 1;
    }
    my $found = select( $readable, undef, undef, $job ? LONGEST_WAIT_SECONDS : 1 );
    return if $found <= 0;
    if ($job) {
        for my $stream ( grep { defined $_->{pipe} } @{ $job->{streams} } ) {
            read_stream($stream) if vec( $readable, fileno( $stream->{pipe} ), 1 );
        }
    }
    read_port() if vec( $readable, fileno($port), 1 );
}

sub read_port {
    my $count = sysread( $port, $input, 4 * PIECE_BYTES, length $input );
    if ($count) { $lonely_since = undef; return }
    return if !defined $count && ( $! == EINTR || $! == EAGAIN );
    # Nobody at the other end.
    $lonely_since //= time;
    power_off() if time - $lonely_since > LONELY_SECONDS;
    select( undef, undef, undef, 0.01 );
}

my ( $letter, $payload );

sub next_frame {
    $input =~ s/^\n+// if substr( $input, 0, 1 ) eq "\n";
    return 0 if length $input < 5;
    my $size = unpack 'N', substr $input, 1, 4;
    return 0 if length $input < 5 + $size;
    $letter  = substr $input, 0, 1;
    $payload = substr $input, 5, $size;
    substr( $input, 0, 5 + $size, '' );
    return 1;
}

sub send_frame {
    my ( $letter, $payload ) = @_;
    write_port( $letter . pack( 'N', length $payload ) . $payload );
}

sub write_port {
    my ($bytes) = @_;
    my $at = 0;
    while ( $at < length $bytes ) {
        my $count = syswrite( $port, $bytes, length($bytes) - $at, $at );
        if ( defined $count ) { $at += $count }
        elsif ( $! != EINTR && $! != EAGAIN ) { return }
    }
}

sub say_alive { write_port( ( "\n" x 16 ) . 'R' . pack( 'N', 0 ) ) }

sub handle {
    if    ( $letter eq 'D' ) { add_to_file() }
    elsif ( $letter eq 'F' ) { begin_file( split /\0/, $payload, -1 ) }
    elsif ( $letter eq 'S' ) { wake( split /\0/, $payload ) }
    elsif ( $letter eq 'A' ) { close_file(); answer() }
    elsif ( $letter eq 'B' ) { prepare($payload); answer() }
    elsif ( $letter eq 'C' ) { clean(); answer() }
    elsif ( $letter eq 'X' ) { start( split /\0/, $payload, -1 ) }
    elsif ( $letter eq 'K' ) { end_job('kill') if $job }
    elsif ( $letter eq 'O' ) { send_output() }
    elsif ( $letter eq 'W' ) { system( '/bin/sh', '-c', $payload ); answer() }
}

sub answer {
    send_frame( 'A', $fault );
    $fault = '';
}

# ---------------------------------------------------------------------------------- the machine

# Two machines that were restored from one snapshot are the same machine until this.
sub wake {
    my ( $seconds, $nanoseconds, $seed ) = @_;
    my $time = pack 'q2', $seconds, $nanoseconds;
    syscall( $SYS{clock_settime}, 0, $time );
    my $entropy = pack 'H*', $seed;
    if ( open my $random, '>', '/dev/urandom' ) {
        my $request = pack 'i2a*', 8 * length $entropy, length $entropy, $entropy;
        ioctl( $random, 0x40085203, $request );    # RNDADDENTROPY
        ioctl( $random, 0x5207, 0 );               # RNDRESEEDCRNG
    }
    say_alive();
}

sub mount {
    my ( $source, $target, $type, $flags, $data ) = @_;
    $data //= '';
    return syscall( $SYS{mount}, $source, $target, $type, $flags // 0, $data ) == 0;
}

sub make_folders {
    my ($path) = @_;
    my $so_far = '';
    for my $part ( grep { length } split m{/}, $path ) {
        $so_far .= "/$part";
        mkdir $so_far;
    }
}

sub prepare {
    my ($handlers) = @_;
    $ROOT{h} = $handlers;
    mkdir '/scratch';
    mount( '/dev/vdb', '/scratch', 'ext4' ) or return trouble( 'io', "no disk: $!" );
    for my $name ( 'workspace', 'output', 'tmp' ) { mkdir "/scratch/$name" }
    chmod 01777, '/scratch/tmp';
    for my $name ( 'workspace', 'output', $handlers =~ m{^/tmp/} ? () : 'tmp' ) {
        mkdir "/$name";
        mount( "/scratch/$name", "/$name", 'none', 4096 ) or trouble( 'io', "/$name: $!" );    # MS_BIND
    }
    make_folders($handlers);
    mount( $handlers, $handlers, 'none', 4096 ) or trouble( 'io', "$handlers: $!" );
}

# The handlers' directory is read-only while a handler runs.
sub protect_handlers {
    my ($on) = @_;
    return unless defined $ROOT{h};
    mount( 'none', $ROOT{h}, 'none', 4096 | 32 | ( $on ? 1 : 0 ) );    # MS_BIND | MS_REMOUNT | MS_RDONLY
    $ROOT{protected} = $on;
}

sub power_off { syscall( $SYS{reboot}, 0xfee1dead, 672274793, 0x4321fedc, 0 ); sleep 1 while 1 }

# ---------------------------------------------------------------------------------- files in

sub trouble { my ( $kind, $text ) = @_; $fault ||= "$kind\0$text"; return 0 }

sub begin_file {
    my ( $root, $type, $mode, $mtime, $path, $target ) = @_;
    close_file();
    return if $fault;
    my $top = $ROOT{$root};
    protect_handlers(0) if $root eq 'h' && $ROOT{protected};
    my @folders = split m{/}, $path;
    my $name    = pop @folders;
    my $folder  = $top;
    for my $part (@folders) {
        $folder .= "/$part";
        mkdir $folder, 0700;
        my @found = lstat $folder;
        return trouble( 'outside', $path ) unless @found && S_ISDIR( $found[2] );
    }
    my $whole = "$folder/$name";
    my @there = lstat $whole;
    if ( $type eq 'd' ) {
        mkdir $whole unless @there;
        chmod $mode, $whole;
        return;
    }
    return trouble( 'directory', $path ) if @there && S_ISDIR( $there[2] );
    unlink $whole if @there;
    if ( $type eq 'l' ) {
        symlink $target, $whole or trouble( 'io', "$path: $!" );
        return;
    }
    sysopen( my $handle, $whole, O_WRONLY | O_CREAT | O_EXCL, $mode ) or return trouble( 'io', "$path: $!" );
    chmod $mode, $whole;    # whatever the umask
    $file = { handle => $handle, path => $whole, mtime => $mtime };
}

sub add_to_file {
    return if $fault || !$file;
    my $at = 0;
    while ( $at < length $payload ) {
        my $count = syswrite( $file->{handle}, $payload, length($payload) - $at, $at );
        return trouble( 'io', "$file->{path}: $!" ) unless defined $count;
        $at += $count;
    }
}

sub close_file {
    return unless $file;
    close $file->{handle} or trouble( 'io', "$file->{path}: $!" );
    utime $file->{mtime}, $file->{mtime}, $file->{path} if $file->{mtime};
    $file = undef;
}

sub clean {
    for my $top ( '/workspace', '/output', '/tmp' ) {
        opendir( my $folder, $top ) or next;
        my @names = grep { $_ ne '.' && $_ ne '..' } readdir $folder;
        next if $top eq '/tmp' && defined $ROOT{h} && $ROOT{h} =~ m{^/tmp/};
        system( 'rm', '-rf', '--', map { "$top/$_" } @names ) if @names;
    }
}

# ---------------------------------------------------------------------------------- files out

sub send_output {
    my $problem = '';
    send_folder( '', \$problem );
    send_frame( 'Z', $problem );
}

sub send_folder {
    my ( $inner, $problem ) = @_;
    opendir( my $folder, "$ROOT{o}/$inner" ) or do { $$problem ||= "$inner: $!"; return };
    for my $name ( sort grep { $_ ne '.' && $_ ne '..' } readdir $folder ) {
        my $path = $inner eq '' ? $name : "$inner/$name";
        my ( $mode, $mtime ) = ( lstat "$ROOT{o}/$path" )[ 2, 9 ];
        next unless defined $mode;
        my @rest = ( $mode & 07777, $mtime, $path );
        if ( S_ISDIR($mode) ) {
            send_frame( 'F', join "\0", 'd', @rest, '' );
            send_folder( $path, $problem );
        }
        elsif ( S_ISLNK($mode) ) {
            send_frame( 'F', join "\0", 'l', @rest, readlink "$ROOT{o}/$path" );
        }
        elsif ( S_ISREG($mode) ) {
            sysopen( my $handle, "$ROOT{o}/$path", O_RDONLY ) or do { $$problem ||= "$path: $!"; next };
            send_frame( 'F', join "\0", 'f', @rest, '' );
            my $bytes;
            send_frame( 'D', $bytes ) while sysread $handle, $bytes, PIECE_BYTES;
        }
    }
}

# ---------------------------------------------------------------------------------- the handler

sub start {
    my ( $memory, @rest ) = @_;
    my @interpreter = splice @rest, 0, shift @rest;
    my $script      = shift @rest;
    my @arguments   = splice @rest, 0, shift @rest;
    my @environment = @rest;
    my @argv        = find_program( \@interpreter, $script, \@environment );
    if ( !ref $argv[0] ) {
        my ( $code, $message ) = @argv;
        send_frame( '2', "$message\n" );
        return send_frame( 'X', join "\0", 'exit', $code << 8 );
    }
    protect_handlers(1);
    mkdir CGROUP;
    spew( CGROUP . '/memory.max', $memory );
    spew( CGROUP . '/memory.swap.max', 0 );
    spew( CGROUP . '/memory.oom.group', 1 );
    pipe my $out, my $out_end;
    pipe my $err, my $err_end;
    my $pid = fork;
    if ( !$pid ) {
        $SIG{$_} = 'DEFAULT' for 'CHLD', 'PIPE';
        spew( CGROUP . '/cgroup.procs', $$ );
        POSIX::setsid();
        open STDIN, '<', '/dev/null';
        POSIX::dup2( fileno $out_end, 1 );
        POSIX::dup2( fileno $err_end, 2 );
        chdir $ROOT{w};
        %ENV = map { split /=/, $_, 2 } @environment;
        my @command = ( @{ $argv[0] }, @arguments );
        { no warnings; exec { $command[0] } @command }
        syswrite STDERR, "$command[0]: cannot be started ($!)\n";
        POSIX::_exit(126);
    }
    close $out_end;
    close $err_end;
    for my $pipe ( $out, $err ) { fcntl( $pipe, F_SETFL, O_NONBLOCK ) }
    $job = {
        pid     => $pid,
        streams => [ { pipe => $out, letter => '1' }, { pipe => $err, letter => '2' } ],
    };
}

# A reference to the program's words, or an exit code as a shell's and what to tell.
sub find_program {
    my ( $interpreter, $script, $environment ) = @_;
    my $path = "$ROOT{h}/$script";
    my ( $name, @options ) = @$interpreter;
    if ( !defined $name ) {
        my @why = why_not( $path, $script );
        return @why if @why;
        open my $handle, '<', $path;
        sysread $handle, my $head, 256;
        if ( ( $head // '' ) =~ /^#![ \t]*(\S+)/ && !-e $1 ) {
            return ( 127, "$script: its #! line names $1, which is not in the microVM" );
        }
        return [$path];
    }
    if ( $name =~ m{/} ) {
        my $program = $name =~ m{^/} ? $name : "$ROOT{h}/$name";
        my @why = why_not( $program, $name );
        return @why ? @why : [ $program, @options, $path ];
    }
    my ($search) = map { /^PATH=(.*)/s ? $1 : () } @$environment;
    for my $folder ( grep { m{^/} } split /:/, $search // HANDLER_PATH ) {
        return [ "$folder/$name", @options, $path ] unless why_not( "$folder/$name", $name );
    }
    return ( 127, "$name: not found in the microVM (looked in $search); install it on this machine and"
          . ' run "jobq-dev sandbox build", or set "interpreters" in jobq.config.json' );
}

sub why_not {
    my ( $path, $shown ) = @_;
    return ( 127, "$shown: there is no such file ($path)" ) unless -e $path;
    return ( 126, "$shown: not a file ($path)" ) unless -f _;
    return ( 126, "$shown: not executable; make it so with: chmod +x $path" ) unless -x _;
    return;
}

sub read_stream {
    my ($stream) = @_;
    my $count = sysread( $stream->{pipe}, my $bytes, PIECE_BYTES );
    if ($count) { send_frame( $stream->{letter}, $bytes ); return 1 }
    $stream->{pipe} = undef if defined $count || ( $! != EINTR && $! != EAGAIN );
    return 0;
}

sub look_after_job {
    while ( ( my $pid = waitpid -1, POSIX::WNOHANG ) > 0 ) {
        next unless $pid == $job->{pid};
        $job->{status} = $?;
        return end_job('exit');
    }
    # The kernel ended one process of it for its memory: the rest goes with it.
    end_job('memory') if killed_for_memory();
}

sub reap { 1 while waitpid( -1, POSIX::WNOHANG ) > 0 }

sub killed_for_memory { return slurp( CGROUP . '/memory.events' ) =~ /^oom_kill [1-9]/m }

# Ends all of it, sends what it still said, and tells how it ended.
sub end_job {
    my ($reason) = @_;
    my @left = $reason eq 'exit' ? left_behind() : ();
    while (1) {
        spew( CGROUP . '/cgroup.kill', 1 );
        while ( ( my $pid = waitpid -1, POSIX::WNOHANG ) > 0 ) {
            $job->{status} = $? if $pid == $job->{pid};
        }
        last if slurp( CGROUP . '/cgroup.events' ) =~ /^populated 0/m;
        select( undef, undef, undef, 0.002 );
    }
    reap();
    for my $stream ( @{ $job->{streams} } ) { 1 while defined $stream->{pipe} && read_stream($stream) }
    $reason = 'memory' if $reason ne 'kill' && killed_for_memory();
    send_frame( 'L', $_ ) for @left;
    my $status = $job->{status} // 9;
    $job = undef;
    rmdir CGROUP;
    send_frame( 'X', join "\0", $reason, $status );
}

sub left_behind {
    my @commands;
    for my $pid ( split /\n/, slurp( CGROUP . '/cgroup.procs' ) ) {
        last if @commands == MOST_LEFT;
        my $command = slurp("/proc/$pid/cmdline");
        next if $command eq '';    # a zombie
        $command =~ tr/\0/ /;
        push @commands, substr( $command =~ s/ $//r, 0, LONGEST_COMMAND );
    }
    return @commands;
}

sub slurp {
    my ($path) = @_;
    open my $handle, '<', $path or return '';
    local $/;
    return scalar(<$handle>) // '';
}

sub spew {
    my ( $path, $text ) = @_;
    open my $handle, '>', $path or return;
    syswrite $handle, $text;
}
