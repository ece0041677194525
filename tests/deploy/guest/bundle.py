"""bundle.py IMAGE FOLDER: an image and its Kubernetes manifest as what a runtime of OCI is given, for a guest without any engine.

FOLDER gets rootfs.tar and a configuration for each container: with the rights and the command of the manifest (serve.json), with the
rights of the manifest (stat.json), and with too few (see CONTAINERS). Rights and mounts are read from the manifest, not written here.
"""

import io
import json
import pathlib
import sys
import tarfile

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[3] / "deploy"
#: The default profile of Debian's podman.
PROFILE = pathlib.Path("/usr/share/containers/seccomp.json")
#: What newer runtimes have in the place of Debian 12's rule, which forbids the call to all who lack CAP_SYS_ADMIN.
RULE = {"names": ["perf_event_open"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_PERFMON"]}}
STAT = ["stat", "--through", "kernel", "-e", "imc/CAS_COUNT.RD/", "-j", "--timeout", "1000"]
#: Arguments (none: those of the manifest), whether the profile has the rule, and whether there is the capability.
CONTAINERS = {"serve": (None, True, True), "stat": (STAT, True, True), "old": (STAT, False, True), "bare": (STAT, True, False)}


def blob(archive, digest):
    return archive.extractfile(f"./blobs/{digest.replace(':', '/')}").read()


def unpack(image):
    """The image's configuration, and its files as one archive."""
    with tarfile.open(image) as archive:
        index = json.load(archive.extractfile("./index.json"))
        manifest = json.loads(blob(archive, index["manifests"][0]["digest"]))
        config = json.loads(blob(archive, manifest["config"]["digest"]))["config"]
        files = io.BytesIO()
        with tarfile.open(fileobj=files, mode="w") as joined:
            for layer in manifest["layers"]:
                with tarfile.open(fileobj=io.BytesIO(blob(archive, layer["digest"]))) as packed:
                    for member in packed:
                        joined.addfile(member, packed.extractfile(member) if member.isfile() else None)
        return config, files.getvalue()


def seccomp(profile, capabilities):
    """The rules of a profile that hold for a container with these capabilities, on this architecture."""
    rules = []
    for rule in profile:
        wanted, refused = rule.get("includes") or {}, rule.get("excludes") or {}
        holds = set(wanted.get("caps", [])) <= capabilities and not capabilities & set(refused.get("caps", []))
        if holds and "amd64" in wanted.get("arches", ["amd64"]) and "amd64" not in refused.get("arches", []):
            kept = {key: rule[key] for key in ["names", "action", "args", "errnoRet"] if rule.get(key) not in (None, [])}
            rules.append(kept)
    return {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38, "architectures": ["SCMP_ARCH_X86_64"], "syscalls": rules}


def configuration(image, pod, arguments, with_rule, with_capability):
    container = pod["containers"][0]
    context = container["securityContext"]
    assert context["capabilities"]["drop"] == ["ALL"] and context["seccompProfile"]["type"] == "RuntimeDefault"
    capabilities = [f"CAP_{name}" for name in context["capabilities"]["add"]] if with_capability else []
    rules = json.loads(PROFILE.read_text())["syscalls"]
    if with_rule:
        for rule in rules:
            rule["names"] = [name for name in rule["names"] if name not in RULE["names"]]
        rules = [rule for rule in rules if rule["names"]] + [RULE]
    hosts = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
    mounts = [
        {
            "destination": mount["mountPath"],
            "type": "none",
            "source": hosts[mount["name"]],
            "options": ["rbind", "ro" if mount["readOnly"] else "rw"],
        }
        for mount in container["volumeMounts"]
    ]
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": context["runAsUser"], "gid": context["runAsGroup"]},
            "args": image["Entrypoint"] + (arguments or container["args"]),
            "env": image.get("Env", []),
            "cwd": "/",
            "capabilities": {kind: capabilities for kind in ["bounding", "effective", "permitted"]},
            "noNewPrivileges": not context["allowPrivilegeEscalation"],
        },
        "root": {"path": "rootfs", "readonly": context["readOnlyRootFilesystem"]},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            *mounts,
        ],
        # The guest's own network: nothing there gives a container another.
        "linux": {
            "namespaces": [{"type": kind} for kind in ["pid", "mount", "ipc", "uts"]],
            "seccomp": seccomp(rules, set(capabilities)),
        },
    }


def main(image, folder):
    folder = pathlib.Path(folder)
    documents = yaml.safe_load_all((DEPLOY / "kubernetes/pericore.yaml").read_text())
    [pod] = [document["spec"]["template"]["spec"] for document in documents if document["kind"] == "DaemonSet"]
    config, files = unpack(image)
    (folder / "rootfs.tar").write_bytes(files)
    for name, words in CONTAINERS.items():
        (folder / f"{name}.json").write_text(json.dumps(configuration(config, pod, *words)))


main(*sys.argv[1:])
