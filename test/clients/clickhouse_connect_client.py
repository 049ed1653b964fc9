"""What a user of clickhouse-connect writes, with its defaults: python clickhouse_connect_client.py <port> <user> <password>"""

import sys

import clickhouse_connect

port, user, password = sys.argv[1:]
client = clickhouse_connect.get_client(host="127.0.0.1", port=int(port), username=user, password=password)
print("session", client.get_client_setting("session_id") is not None)
print("rows", client.query("SELECT number, toString(number) FROM numbers(3)").result_rows)
print("parameter", client.query("SELECT {n:UInt8} + 1", parameters={"n": 41}).first_row)
print("setting", client.query("SELECT sum(number) FROM numbers(10)", settings={"max_threads": 1}).first_row)
print("rows of steps", client.query("SELECT count() FROM steps").first_row)
try:
    client.command("SET max_threads = 1")
except clickhouse_connect.driver.exceptions.DatabaseError as error:
    print("refused", "Sessions keep no state" in str(error))
