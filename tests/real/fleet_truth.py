"""A synthetic GPU fleet whose every reading is a known function of time.

Pure functions: the exporter (fleet_exporter.py) prints what they say now, and a test asks them what
must be in the ledger. Values are constant over blocks of BLOCK_S seconds, so that the true mean over
any span is a sum, and the energy counter is the exact integral of the power, in whole millijoules.
Times are Unix seconds; numbers that are compared are integers wherever the exporter's are.
"""
import dataclasses
import functools
import hashlib

BLOCK_S = 5
# In mode `resets` the driver is reloaded after so many seconds and counts from zero.
RESET_S = 20
# In mode `sentinels` every so many blocks are blank.
BLANK_EVERY = 3

# Blanks of DCGM: dcgmlib/dcgm_structs.h, DCGM_INT32_BLANK, DCGM_INT64_NOT_SUPPORTED,
# DCGM_FP64_NOT_FOUND.
BLANK_INT32 = 0x7FFFFFF0
BLANK_INT64_NOT_SUPPORTED = 0x7FFFFFFFFFFFFFF2
BLANK_FP64_NOT_FOUND = 140737488355328.0 + 1

MODES = ("plain", "mig", "shared", "renamed", "sentinels", "resets")

# The twelve metrics, as dcgm-exporter names them: name, kind (gauge or counter), help.
METRICS = (
    ("DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz)."),
    ("DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C)."),
    ("DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W)."),
    ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter",
     "Total energy consumption since boot (in mJ)."),
    ("DCGM_FI_DEV_XID_ERRORS", "gauge", "Value of the last XID error encountered."),
    ("DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %)."),
    ("DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB)."),
    ("DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB)."),
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge",
     "Ratio of time the graphics engine is active (in %)."),
    ("DCGM_FI_PROF_SM_ACTIVE", "gauge", "The ratio of cycles an SM has a warp assigned (in %)."),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge",
     "Ratio of cycles the tensor (HMMA) pipe is active (in %)."),
    ("DCGM_FI_PROF_DRAM_ACTIVE", "gauge",
     "Ratio of cycles the device memory interface is active sending or receiving data (in %)."),
)
# Their names in DCGM 4.6; GPU_UTIL stays a percentage in spite of its name.
RENAMED = {
    "DCGM_FI_DEV_GPU_UTIL": "DCGM_FI_DEV_GPU_UTIL_RATIO",
    "DCGM_FI_DEV_POWER_USAGE": "DCGM_FI_DEV_BOARD_POWER_WATTS",
    "DCGM_FI_DEV_XID_ERRORS": "DCGM_FI_DEV_XID_ERROR",
    "DCGM_FI_DEV_GPU_TEMP": "DCGM_FI_DEV_GPU_TEMP_CELSIUS",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO",
    "DCGM_FI_PROF_SM_ACTIVE": "DCGM_FI_PROF_SM_UTIL_RATIO",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "DCGM_FI_PROF_TENSOR_UTIL_RATIO",
    "DCGM_FI_PROF_DRAM_ACTIVE": "DCGM_FI_PROF_DRAM_UTIL_RATIO",
}
TOTAL_MIB = 81_559
RESERVED_MIB = 551
MIG_MODEL = "NVIDIA A100-SXM4-40GB"
# Of one A100 40 GB: GPU instance id, profile, memory in MiB.
MIG_INSTANCES = ((1, "3g.20gb", 19_968), (7, "1g.5gb", 4_864), (8, "1g.5gb", 4_864))


@dataclasses.dataclass(frozen=True)
class Gpu:
    node: str
    index: int
    mode: str = "plain"
    loaded_s: int = 0  # when the driver was loaded: the energy counter's zero

    @functools.cached_property
    def uuid(self):
        digits = hashlib.sha256(f"{self.node}/{self.index}".encode()).hexdigest()
        return (f"GPU-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-"
                f"{digits[20:32]}")

    @property
    def model(self):
        return MIG_MODEL if self.mode == "mig" else "NVIDIA H100 80GB HBM3"

    @property
    def pods(self):
        """(container, namespace, pod) of each pod that holds it; a shared GPU has three."""
        if self.mode == "shared":
            return tuple(("main", "team-a", f"share-{self.node}-{self.index}-{k}")
                         for k in range(3))
        if self.index % 4 == 3:
            return ()  # nobody
        return (("main", f"team-{'ab'[self.index % 2]}", f"train-{self.node}-{self.index}"),)


def nodes_of(modes, loaded_s, gpus_per_node=2):
    """{node: [Gpu]}: a node for each mode. The counter is a sum over the time since `loaded_s`,
    which should be less than some hours ago."""
    return {f"{mode}-node-{n}": [Gpu(f"{mode}-node-{n}", k, mode, loaded_s)
                                 for k in range(gpus_per_node)]
            for n, mode in enumerate(modes)}


@functools.lru_cache(maxsize=1 << 16)
def _noise(gpu, what, block, size):
    digest = hashlib.blake2b(f"{gpu.node}/{gpu.index}/{what}/{block}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") % size


def _block(time_s):
    return int(time_s // BLOCK_S)


def power_milliwatts(gpu, time_s):
    return 70_000 + _noise(gpu, "power", _block(time_s), 600_000)


def share_ppm(gpu, what, time_s, instance=0):
    return _noise(gpu, f"{what}/{instance}", _block(time_s), 1_000_001)


def used_mib(gpu, time_s, instance=0):
    size = next((mib for i, _, mib in MIG_INSTANCES if i == instance), TOTAL_MIB - RESERVED_MIB)
    return _noise(gpu, f"used/{instance}", _block(time_s), size)


def free_mib(gpu, time_s, instance=0):
    size = next((mib for i, _, mib in MIG_INSTANCES if i == instance), TOTAL_MIB - RESERVED_MIB)
    return size - used_mib(gpu, time_s, instance)


def used_millijoules(gpu, begin_s, end_s):
    """The exact energy of a span, in mJ (mW × s), its ends in whole milliseconds."""
    begin_ms, end_ms = round(begin_s * 1000), round(end_s * 1000)
    total, at, block_ms = 0, begin_ms, BLOCK_S * 1000
    while at < end_ms:
        until = min(end_ms, (at // block_ms + 1) * block_ms)
        total += power_milliwatts(gpu, at / 1000) * (until - at)
        at = until
    return total // 1000


def loaded_at(gpu, time_s):
    """When the driver was last loaded before a moment."""
    if gpu.mode == "resets":
        return time_s // RESET_S * RESET_S
    return gpu.loaded_s


def energy_counter(gpu, time_s):
    return used_millijoules(gpu, loaded_at(gpu, time_s), time_s)


def is_blank(gpu, time_s):
    return gpu.mode == "sentinels" and _block(time_s) % BLANK_EVERY == 0


def mean_ppm(gpu, what, begin_s, end_s, instance=0):
    """The true time-weighted mean of a share over a span, in ppm."""
    total, at = 0.0, begin_s
    while at < end_s:
        until = min(end_s, (_block(at) + 1) * BLOCK_S)
        total += share_ppm(gpu, what, at, instance) * (until - at)
        at = until
    return total / (end_s - begin_s)


def held_mean(samples, begin_ms, end_ms, longest_ms):
    """What a receiver can know: the mean over [begin, end) of (ms, value) samples, each of which
    holds until the next one, and no longer than `longest_ms`. With it, for how many ms anything
    was known. None marks the end of a series."""
    total, known = 0.0, 0
    for k, (at, value) in enumerate(samples):
        if value is None:
            continue
        until = at + longest_ms
        if k + 1 < len(samples):
            until = min(until, samples[k + 1][0])
        since, until = max(at, begin_ms), min(until, end_ms)
        if until > since:
            total += value * (until - since)
            known += until - since
    return (total / known if known else None), known


def counted(samples):
    """The increase of a counter's (ms, value) samples, allowing for resets."""
    total = 0
    for (_, before), (_, after) in zip(samples, samples[1:]):
        total += after - before if after >= before else after
    return total


# ------------------------------------------------------------------------------ exposition

def _labels(gpu, pod, instance=None, share=None):
    """In the order of dcgm-exporter's template."""
    pairs = [("gpu", gpu.index), ("UUID", gpu.uuid),
             ("pci_bus_id", f"00000000:{0x18 + 16 * gpu.index:02X}:00.0"),
             ("device", f"nvidia{gpu.index}"), ("modelName", gpu.model)]
    if instance is not None:
        pairs += [("GPU_I_PROFILE", instance[1]), ("GPU_I_ID", instance[0])]
    pairs += [("hostname" if gpu.mode == "renamed" else "Hostname", gpu.node),
              ("DCGM_FI_DRIVER_VERSION", "550.90.07")]
    if share is not None:
        pairs.append(("vgpu", share))
    pairs += list(zip(("container", "namespace", "pod"), pod))
    return ",".join(f'{name}="{value}"' for name, value in pairs)


def _text(name, gpu, time_s, instance):
    """One value as the exporter prints it; None where it has none."""
    blank = is_blank(gpu, time_s)
    if name == "DCGM_FI_DEV_SM_CLOCK":
        return "1980"
    if name == "DCGM_FI_DEV_GPU_TEMP":
        return str(BLANK_INT32 if blank else 40 + _noise(gpu, "temp", _block(time_s), 40))
    if name == "DCGM_FI_DEV_POWER_USAGE":
        if blank:
            return f"{BLANK_FP64_NOT_FOUND:f}"
        return f"{power_milliwatts(gpu, time_s) / 1000:f}"
    if name == "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION":
        return str(BLANK_INT64_NOT_SUPPORTED if blank else energy_counter(gpu, time_s))
    if name == "DCGM_FI_DEV_XID_ERRORS":
        return "0"
    if name == "DCGM_FI_DEV_GPU_UTIL":
        if gpu.mode == "mig":
            return None  # there is none under MIG
        return str(BLANK_INT32 if blank else share_ppm(gpu, "util", time_s) // 10_000)
    if name == "DCGM_FI_DEV_FB_FREE":
        return str(free_mib(gpu, time_s, instance))
    if name == "DCGM_FI_DEV_FB_USED":
        return str(used_mib(gpu, time_s, instance))
    what = {"DCGM_FI_PROF_GR_ENGINE_ACTIVE": "engine", "DCGM_FI_PROF_SM_ACTIVE": "sm",
            "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "tensor",
            "DCGM_FI_PROF_DRAM_ACTIVE": "dram"}[name]
    if blank:
        return f"{BLANK_FP64_NOT_FOUND:f}"
    return f"{share_ppm(gpu, what, time_s, instance) / 1e6:f}"


def exposition(gpus, time_s):
    """A node's /metrics at a moment."""
    lines = []
    for name, kind, text in METRICS:
        given = RENAMED.get(name, name) if gpus and gpus[0].mode == "renamed" else name
        lines += [f"# HELP {given} {text}", f"# TYPE {given} {kind}"]
        for gpu in gpus:
            nobody = ("", "", "")
            if gpu.mode == "mig":
                # Power, energy and clocks of the GPU are repeated on every instance.
                series = [(_labels(gpu, nobody, instance), instance[0])
                          for instance in MIG_INSTANCES]
            elif gpu.mode == "shared":
                # With --kubernetes-virtual-gpus each pod has a copy, and newer releases add the
                # device's own series.
                series = [(_labels(gpu, pod, share=k), 0) for k, pod in enumerate(gpu.pods)]
                series.append((_labels(gpu, nobody), 0))
            else:
                series = [(_labels(gpu, (gpu.pods or (nobody,))[0]), 0)]
            for labels, instance in series:
                value = _text(name, gpu, time_s, instance)
                if value is not None:
                    lines.append(f"{given}{{{labels}}} {value}")
    return "\n".join(lines) + "\n"
