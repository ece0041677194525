"""A collector of OpenTelemetry: prints its port, then a JSON line for each request that it takes.

With two arguments, a certificate and its key, it speaks https.
"""

import http.server
import json
import ssl
import sys

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest, ExportMetricsServiceResponse

CUMULATIVE = 2


def samples(request):
    """Values by name and labels, as Prometheus' library for Python names them."""
    found = {}
    for resource in request.resource_metrics:
        for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
            kind = metric.WhichOneof("data")
            data = getattr(metric, kind)
            if kind == "sum":
                assert data.is_monotonic and data.aggregation_temporality == CUMULATIVE, metric.name
            for point in data.data_points:
                labels = sorted((attribute.key, attribute.value.string_value) for attribute in point.attributes)
                name = metric.name + ("_total" if kind == "sum" else "")
                key = name + "|" + ",".join(f"{key}={value}" for key, value in labels)
                assert key not in found, key
                assert point.time_unix_nano > point.start_time_unix_nano and (kind != "sum" or point.start_time_unix_nano > 0)
                found[key] = repr(float(getattr(point, point.WhichOneof("value"))))
    return found


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = ExportMetricsServiceRequest.FromString(body)
        resource = {attribute.key: attribute.value.string_value for attribute in request.resource_metrics[0].resource.attributes}
        units = {metric.name: metric.unit for metric in request.resource_metrics[0].scope_metrics[0].metrics}
        line = {"path": self.path, "type": self.headers["Content-Type"], "resource": resource, "units": units, "samples": samples(request)}
        print(json.dumps(line), flush=True)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.end_headers()
        self.wfile.write(ExportMetricsServiceResponse().SerializeToString())

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
if len(sys.argv) > 1:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
