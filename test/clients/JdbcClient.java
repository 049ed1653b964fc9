import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Properties;

/** Uses a store as DBeaver does: through the JDBC driver, without any property but user and password. Prints one line for each answer. */
public class JdbcClient {
  public static void main(String[] args) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("user", args[1]);
    properties.setProperty("password", args[2]);
    try (Connection connection = DriverManager.getConnection(args[0], properties);
        Statement statement = connection.createStatement()) {
      try (ResultSet tables = connection.getMetaData().getTables(null, "default", "episodes", null)) {
        while (tables.next()) System.out.println("table " + tables.getString("TABLE_NAME"));
      }
      statement.execute("CREATE TABLE numbers_written (n UInt64) ENGINE = MergeTree ORDER BY n");
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO numbers_written (n) VALUES (?)")) {
        for (int n = 0; n < 1000; n++) {
          insert.setInt(1, n);
          insert.addBatch();
        }
        insert.executeBatch();
      }
      try (ResultSet row = statement.executeQuery("SELECT count(), sum(n) FROM numbers_written")) {
        row.next();
        System.out.println("written " + row.getLong(1) + " " + row.getLong(2));
      }
      try (ResultSet rows = statement.executeQuery("SELECT number, repeat('text ', 20) FROM numbers(20000)")) {
        long numRows = 0;
        while (rows.next()) numRows++;
        System.out.println("read " + numRows);
      }
    }
  }
}
