"""A store of objects by moto, with a bucket `fleet`: prints its port, and serves until its standard input ends.

server.py open      takes any key
server.py guarded   takes the key that it prints behind the port, and no other
server.py get ENDPOINT NAME    an object's sums by event, as pyarrow reads them; KEYS for the names of all objects
"""

import io
import json
import os
import sys

import boto3

KEY = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}


def serve(is_guarded):
    # The first so many requests need no key that is known: those that make the bucket, a user and its key.
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4" if is_guarded else "1000000"
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    endpoint = f"http://127.0.0.1:{port}"
    boto3.client("s3", endpoint_url=endpoint, **KEY).create_bucket(Bucket="fleet")
    made = {}
    if is_guarded:
        iam = boto3.client("iam", endpoint_url=endpoint, **KEY)
        iam.create_user(UserName="host")
        every = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
        iam.put_user_policy(UserName="host", PolicyName="all", PolicyDocument=json.dumps(every))
        made = iam.create_access_key(UserName="host")["AccessKey"]
    print(json.dumps({"port": port, "key": made.get("AccessKeyId"), "secret": made.get("SecretAccessKey")}), flush=True)
    sys.stdin.read()


def get(endpoint, name):
    s3 = boto3.client("s3", endpoint_url=endpoint, **KEY)
    if name == "KEYS":
        return sorted(each["Key"] for each in s3.list_objects_v2(Bucket="fleet").get("Contents", []))
    import pyarrow.parquet

    # Without threads, which may be there yet when the interpreter ends.
    body = io.BytesIO(s3.get_object(Bucket="fleet", Key=name)["Body"].read())
    table = pyarrow.parquet.read_table(body, use_threads=False, pre_buffer=False)
    sums = table.group_by("event").aggregate([("count", "sum")])
    return dict(zip(sums["event"].to_pylist(), sums["count_sum"].to_pylist()))


if sys.argv[1] == "get":
    print(json.dumps(get(*sys.argv[2:])))
else:
    serve(sys.argv[1] == "guarded")
