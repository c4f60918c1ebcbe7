require 'pg'
require 'json'

URL, PREFIX = ARGV
IDLE = Queue.new

def connection
  found = begin
    IDLE.pop(true)
  rescue ThreadError
    PG.connect(URL, application_name: PREFIX).tap { |made| made.exec('set client_min_messages to warning') }
  end
  yield found
ensure
  IDLE << found if found
end

def one(sql, values = [])
  connection { |found| found.exec_params(sql, values).getvalue(0, 0) }
end

def order(found, item)
  id = found.exec_params("insert into #{PREFIX}_orders (item) values ($1) returning id", [item]).getvalue(0, 0)
  found.exec_params('insert into jobs (kind, payload) values ($1, $2)', [PREFIX, { order: id.to_i }.to_json])
end

def jobs = one('select count(*) from jobs where kind = $1', [PREFIX])

def equal(found, wanted)
  raise "found #{found.inspect}, not #{wanted.inspect}" unless found == wanted
end

STEPS = {
  connect: -> { equal(one('select version()').start_with?('PostgreSQL 18'), true) },
  migrate: lambda {
    connection do |found|
      found.transaction do
        found.exec("create table #{PREFIX}_orders (id serial primary key, item text unique);
                    create table #{PREFIX}_counter (n int); insert into #{PREFIX}_counter values (0)")
      end
    end
  },
  transaction: lambda {
    connection { |found| found.transaction { order(found, 'book') } }
    equal(jobs, '1')
  },
  rollback: lambda {
    begin
      connection do |found|
        found.transaction do
          order(found, 'pen')
          order(found, 'book')
        end
      end
      raise 'a second book was taken'
    rescue PG::UniqueViolation
      equal([jobs, one("select count(*) from #{PREFIX}_orders")], %w[1 1])
    end
  },
  prepared: lambda {
    connection do |a|
      connection do |b|
        a.prepare('same', 'select $1::int + 1')
        b.prepare('same', 'select $1::int * 2')
        20.times do |i|
          equal([a, b].map { |found| found.exec_prepared('same', [i]).getvalue(0, 0).to_i }, [i + 1, i * 2])
        end
      end
    end
  },
  batch: lambda {
    connection do |found|
      found.copy_data("copy #{PREFIX}_orders (item) from stdin") do
        1000.times { |i| found.put_copy_data("batch #{i}\n") }
      end
    end
    equal(one("select count(*) from #{PREFIX}_orders where item like 'batch %'"), '1000')
  },
  listen: lambda {
    connection do |found|
      found.exec("listen #{PREFIX}")
      one('select pg_notify($1, $2)', [PREFIX, 'hello'])
      found.wait_for_notify(30) { |_channel, _pid, payload| equal(payload, 'hello') } or raise 'nothing was heard'
      found.exec('unlisten *')
    end
  },
  pool: lambda {
    add = lambda {
      connection do |found|
        found.transaction do
          n = found.exec("select n from #{PREFIX}_counter for update").getvalue(0, 0).to_i
          found.exec_params("update #{PREFIX}_counter set n = $1", [n + 1])
        end
      end
    }
    10.times.map { Thread.new { 20.times { add.call } } }.each(&:join)
    equal(one("select n from #{PREFIX}_counter"), '200')
  }
}.freeze

STEPS.each do |name, step|
  step.call
  puts "ok #{name}"
rescue StandardError => e
  puts "not ok #{name}: #{e.message.lines.first&.strip}"
end
