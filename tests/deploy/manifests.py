"""What is deployed in containers has the rights that it needs and no others, and its files fit together."""

import pathlib
import subprocess
import sys
import tempfile

import kubernetes_validate
import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
KUBERNETES = ["1.30", "1.34"]
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)


def documents(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def check_manifest(path):
    for document in documents(path):
        name = f"{path.name}: {document['kind']}"
        for version in KUBERNETES:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                failures.append(f"{name}, Kubernetes {version}: {error.message}")
        if document["kind"] == "DaemonSet":
            check_pod(name, document["spec"]["template"]["spec"])


def check_pod(name, pod):
    for shared in ["hostNetwork", "hostPID", "hostIPC"]:
        check(not pod.get(shared), f"{name} shares the host's: {shared}")
    hosts = [volume["hostPath"]["path"] for volume in pod.get("volumes", []) if "hostPath" in volume]
    check(hosts == ["/sys"], f"{name} mounts {hosts} of the host, and /sys is enough")
    for container in pod["containers"]:
        context = container["securityContext"]
        check(context["capabilities"] == {"drop": ["ALL"], "add": ["PERFMON"]}, f"{name}: {context['capabilities']}")
        check(context["runAsUser"] == 0, f"{name}: capabilities are added for root alone")
        check(not context.get("privileged") and context["allowPrivilegeEscalation"] is False, f"{name} is privileged")
        check(context["readOnlyRootFilesystem"], f"{name} can write its root")
        check(all(mount.get("readOnly") for mount in container["volumeMounts"]), f"{name} can write what it mounts")


def check_compose(path):
    compose = yaml.safe_load(path.read_text())
    services = compose["services"]
    for name, service in services.items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("."):
                check((path.parent / source).exists(), f"{path.name}: {name} mounts {source}, which is missing")
            elif not source.startswith("/"):
                check(source in compose["volumes"], f"{path.name}: {name} mounts the volume {source}, which is not listed")
    own = services["pericore"]
    check(own["cap_drop"] == ["ALL"] and own["cap_add"] == ["PERFMON"], f"{path.name}: capabilities of pericore")
    check(own["volumes"] == ["/sys:/sys:ro"] and own["read_only"], f"{path.name}: pericore mounts more than sysfs")
    scraped = yaml.safe_load((path.parent / "prometheus.yml").read_text())
    for job in scraped["scrape_configs"]:
        for target in [target for static in job["static_configs"] for target in static["targets"]]:
            host = target.split(":")[0]
            check(host in services, f"prometheus.yml scrapes {host}, which is no service")
            # A name that is not the server's own is refused.
            known = services.get(host, {}).get("command", "")
            check(f"--host {host}" in known, f"{host} does not answer to its name: --host {host}")
    source = yaml.safe_load((path.parent / "grafana/datasources/prometheus.yaml").read_text())["datasources"][0]
    check(source["url"].split("//")[1].split(":")[0] in services, f"Grafana reads from {source['url']}, which is no service")
    provided = yaml.safe_load((path.parent / "grafana/dashboards/pericore.yaml").read_text())["providers"][0]
    mounted = [volume.split(":")[1] for volume in services["grafana"]["volumes"]]
    check(provided["options"]["path"] in mounted, f"dashboards come from {provided['options']['path']}, which is not mounted")


def check_prometheus(folder):
    """Prometheus' own tool reads its files, each where the container has it."""
    with tempfile.TemporaryDirectory() as place:
        for source in [folder / "prometheus.yml", DEPLOY / "prometheus/pericore.rules.yml"]:
            (pathlib.Path(place) / source.name).write_text(source.read_text())
        tool = subprocess.run(["promtool", "check", "config", f"{place}/prometheus.yml"], capture_output=True, text=True)
        check(tool.returncode == 0, f"promtool: {tool.stdout}{tool.stderr}")


manifests = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
check(manifests, "there are no manifests")
for manifest in manifests:
    check_manifest(manifest)
check_compose(DEPLOY / "compose/compose.yaml")
check_prometheus(DEPLOY / "compose")
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(bool(failures))
