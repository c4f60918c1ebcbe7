import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.postgresql.PGConnection;

/** Run as a single file, with the driver on the class path: see steps.mjs. */
public class Jdbc {
  static String url;
  static String prefix;
  static final ConcurrentLinkedQueue<Connection> idle = new ConcurrentLinkedQueue<>();

  interface Work<T> {
    T with(Connection connection) throws Exception;
  }

  interface Step {
    void run() throws Exception;
  }

  static <T> T connected(Work<T> work) throws Exception {
    Connection found = idle.poll();
    if (found == null) found = DriverManager.getConnection(url);
    try {
      return work.with(found);
    } finally {
      idle.add(found);
    }
  }

  static <T> T inTransaction(Work<T> work) throws Exception {
    return connected(connection -> {
      connection.setAutoCommit(false);
      try {
        T value = work.with(connection);
        connection.commit();
        return value;
      } catch (Exception error) {
        connection.rollback();
        throw error;
      } finally {
        connection.setAutoCommit(true);
      }
    });
  }

  static String one(Connection connection, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i += 1) statement.setObject(i + 1, values[i]);
      var rows = statement.executeQuery();
      rows.next();
      return rows.getString(1);
    }
  }

  static Void run(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
    return null;
  }

  static Void order(Connection connection, String item) throws SQLException {
    String id = one(connection, "insert into " + prefix + "_orders (item) values (?) returning id", item);
    try (var statement = connection.prepareStatement("insert into jobs (kind, payload) values (?, ?::jsonb)")) {
      statement.setString(1, prefix);
      statement.setString(2, "{\"order\": " + id + "}");
      statement.execute();
    }
    return null;
  }

  static String count(String from) throws Exception {
    return connected(connection -> one(connection, "select count(*) from " + from));
  }

  static void equal(Object found, Object wanted) {
    if (!found.equals(wanted)) throw new AssertionError("found " + found + ", not " + wanted);
  }

  public static void main(String[] args) throws Exception {
    URI uri = URI.create(args[0]);
    prefix = args[1];
    url = "jdbc:postgresql://" + uri.getHost() + ":" + uri.getPort() + uri.getPath()
        + "?user=postgres&sslmode=disable&prepareThreshold=3&ApplicationName=" + prefix;
    String jobs = "jobs where kind = '" + prefix + "'";
    Map<String, Step> steps = new LinkedHashMap<>();
    steps.put("connect", () ->
        equal(connected(c -> one(c, "select version()")).startsWith("PostgreSQL 18"), true));
    steps.put("migrate", () -> inTransaction(c -> run(c,
        "create table " + prefix + "_orders (id serial primary key, item text unique);"
        + "create table " + prefix + "_counter (n int); insert into " + prefix + "_counter values (0)")));
    steps.put("transaction", () -> {
      inTransaction(c -> order(c, "book"));
      equal(count(jobs), "1");
    });
    steps.put("rollback", () -> {
      try {
        inTransaction(c -> {
          order(c, "pen");
          return order(c, "book");
        });
        throw new AssertionError("a second book was taken");
      } catch (SQLException error) {
        equal(error.getSQLState(), "23505");
      }
      equal(count(jobs) + count(prefix + "_orders"), "11");
    });
    steps.put("prepared", () -> connected(a -> connected(b -> {
      try (var plus = a.prepareStatement("select ?::int + 1"); var times = b.prepareStatement("select ?::int * 2")) {
        for (int i = 0; i < 20; i += 1) {
          plus.setInt(1, i);
          times.setInt(1, i);
          var first = plus.executeQuery();
          var second = times.executeQuery();
          first.next();
          second.next();
          equal(first.getInt(1), i + 1);
          equal(second.getInt(1), i * 2);
        }
      }
      return null;
    })));
    steps.put("batch", () -> {
      inTransaction(c -> {
        try (var statement = c.prepareStatement("insert into " + prefix + "_orders (item) values (?)")) {
          for (int i = 0; i < 500; i += 1) {
            statement.setString(1, "batch " + i);
            statement.addBatch();
          }
          statement.executeBatch();
        }
        var copy = c.unwrap(PGConnection.class).getCopyAPI().copyIn("copy " + prefix + "_orders (item) from stdin");
        for (int i = 500; i < 1000; i += 1) {
          byte[] line = ("batch " + i + "\n").getBytes();
          copy.writeToCopy(line, 0, line.length);
        }
        return copy.endCopy();
      });
      equal(count(prefix + "_orders where item like 'batch %'"), "1000");
    });
    steps.put("listen", () -> connected(a -> {
      run(a, "listen " + prefix);
      connected(b -> run(b, "notify " + prefix + ", 'hello'"));
      equal(a.unwrap(PGConnection.class).getNotifications(30_000)[0].getParameter(), "hello");
      return run(a, "unlisten *");
    }));
    steps.put("pool", () -> {
      var threads = Executors.newFixedThreadPool(10);
      var all = new ArrayList<Future<?>>();
      for (int i = 0; i < 200; i += 1) {
        all.add(threads.submit(() -> inTransaction(c -> {
          int n = Integer.parseInt(one(c, "select n from " + prefix + "_counter for update"));
          return run(c, "update " + prefix + "_counter set n = " + (n + 1));
        })));
      }
      for (var one : all) one.get();
      threads.shutdown();
      equal(connected(c -> one(c, "select n from " + prefix + "_counter")), "200");
    });
    steps.forEach((name, step) -> {
      try {
        step.run();
        System.out.println("ok " + name);
      } catch (Throwable error) {
        System.out.println("not ok " + name + ": " + String.valueOf(error.getMessage()).split("\n")[0]);
      }
    });
  }
}
