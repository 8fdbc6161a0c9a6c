#include "matrix/schema_texts.hpp"

#include <algorithm>

namespace cudamatrix {
namespace {

// Of a field: what it is, and what follows from leaving it out. What it accepts stands in field.def.
constexpr SchemaText kTexts[] = {
    {"version", "The version of this format: 1. Required."},
    {"name", "Names the output folder and the compose project. Left out: the name of the file."},
    {"expect",
     "What the file says of itself, so that one that was cut off, or that lost a part in a merge, is noticed: "
     "anything else is an error. Stands before everything that makes cells."},
    {"expect.cells", "How many cells the file makes, after zip, exclude and include."},
    {"expect.keys", "How many keys the file has at its top level, version and expect among them."},
    {"expect.end",
     "true: the file ends with a line \"...\", which is how YAML ends a document. Left out: false."},
    {"expect_cells", "The same as cells under expect."},
    {"axes",
     "What varies: fields and their values. Every combination of the values is a cell. A single value needs no "
     "list."},
    {"zip",
     "Axes that go in step instead of being multiplied: the first value of one with the first of the other. They "
     "have the same number of values."},
    {"exclude",
     "Conditions: a cell of the product that meets one is left out. Never touches include. One that matches "
     "nothing is reported."},
    {"include",
     "Single cells beside the product, each a map of fields. What a cell does not name comes from set."},
    {"set", "Fields that have the same value in every cell. A field is an axis or stands here, never both."},
    {"keep", "Conditions: no edit that upgrade proposes may lose a cell that meets one."},
    {"rules", "Checks of your own, judged beside ours: cells that match when have to meet require."},
    {"rules.id", "Findings and waive name the rule by it. Required."},
    {"rules.when", "The cells that the rule is about. Left out: every cell."},
    {"rules.require", "What those cells have to meet. Required."},
    {"rules.because", "The reason, which is what the finding says. Required."},
    {"rules.source", "Where that can be read: a link, or your own words."},
    {"rules.stage", "The stage at which it would fail. Left out: container_start."},
    {"rules.severity", "error: such a cell is rejected; warning: degraded. Left out: error."},
    {"waive",
     "Findings that you accept until a day. They are still shown, and no longer count. After that day they count "
     "again, with a warning."},
    {"waive.rule", "The id of the rule whose findings are accepted, ours or yours. Required."},
    {"waive.when", "In which cells. Left out: in every cell."},
    {"waive.because", "The reason. Required."},
    {"waive.until", "The last day of the waiver, such as 2027-03-31. Required."},
    {"stages",
     "The stages that decide a cell's verdict. What fails at another stage degrades the cell. Left out: all but "
     "torch_compile, and build only where the cell compiles something."},
    {"build", "How images are built."},
    {"build.base_from",
     "Where family debian comes from. registry: the official image; bootstrap: made by mmdebstrap, no registry "
     "needed; auto, the default: what the lock holds."},
    {"build.ca_bundle",
     "A PEM file with your site's certificates. Build steps get it as a secret, never as a layer. A relative path "
     "starts at the matrix file."},
    {"build.cache",
     "mounts, the default: the builder keeps packages and wheels for the next image; none: for builders without "
     "cache mounts."},
    {"build.netrc",
     "A netrc file with the passwords of your mirrors. Build steps get it as a secret, never as a layer."},
    {"build.network", "What build steps may reach. default is the engine's own network."},
    {"build.snapshot",
     "Which state of their archive Debian and Ubuntu packages come from. auto, the default: what lock took from "
     "the snapshot service; none: the live archive; or a day (2026-11-01) or a time (20261101T120000Z)."},
    {"build.user", "The user that the images run as. Left out: app."},
    {"build.workdir", "The working directory of the images, an absolute path. Left out: /workspace."},
    {"mirrors",
     "Where to ask instead: a registry, a source by name (pypi, pytorch, nvidia-pypi, python-build-standalone, "
     "debian, debian-security, ubuntu, ubuntu-ports, rockylinux) or the start of a URL, and what replaces it. "
     "Holds no password: that is for build.netrc."},
    {"images",
     "What images hold beside their cells, in entries with a name. Left out: one image for each cell that needs "
     "another one."},
    {"images.name", "Services and the ids of images name the entry by it. Required."},
    {"images.when", "The cells that get such an image. Left out: every cell."},
    {"images.apt", "Packages of the distribution."},
    {"images.pip",
     "Python packages beside those of the cell, each with its exact version: a requirements file next to the "
     "matrix file, or a list such as [numpy==1.26.4]. Judged like packages."},
    {"images.copy", "Files that are copied into the image."},
    {"images.copy.from", "A file or folder next to the matrix file. Required."},
    {"images.copy.to", "Its absolute path in the image, outside system folders. Required."},
    {"images.env", "Environment variables of the image. Never a password or a token."},
    {"images.healthcheck",
     "The command that tells whether a container is well, as a list of words, or a map with test and times."},
    {"images.healthcheck.test", "The command, a list of words. Required."},
    {"images.healthcheck.interval", "The time between two checks, such as 30s."},
    {"images.healthcheck.timeout", "How long a check may take, such as 20s."},
    {"images.healthcheck.start_period", "How long failures do not count after the start, such as 1m."},
    {"images.healthcheck.retries", "How many failures in a row make the container unhealthy."},
    {"services", "Services of compose.yaml. Left out: one for each image."},
    {"services.name", "The name of the service. Required."},
    {"services.image",
     "The entry of images that it runs. Left out: the only entry, or without images: every image of the matrix, "
     "a service for each."},
    {"services.command", "What it runs, a list of words."},
    {"services.gpu",
     "Its GPUs: a number, all, or a list of devices as `nvidia-smi -L` names them. They are reserved in "
     "compose.gpu.yaml and compose.cdi.yaml; compose.yaml alone starts without one."},
    {"services.capabilities",
     "What of the driver it gets: compute, utility and others. `cudamatrix facts show gpu_capabilities` names them."},
    {"services.shm_size",
     "The size of its /dev/shm, such as 8g. Left out: shm_gb of its cells, else 1g with torch and 64m without."},
    {"services.ulimits", "Limits of its processes: a number for both limits (-1: none), or soft and hard."},
    {"services.ulimits.memlock", "Bytes that may be locked into memory."},
    {"services.ulimits.nofile", "Open files."},
    {"services.ulimits.nproc", "Processes."},
    {"services.ulimits.stack", "Bytes of the stack."},
    {"services.ulimits.limit.soft", "The limit that a program starts with. Required."},
    {"services.ulimits.limit.hard", "What it may raise that to. Required."},
    {"services.volumes",
     "Named volumes (cache:/cache) and folders next to the matrix file (./data:/data:ro)."},
    {"services.ports", "Ports of the host and the container, such as 127.0.0.1:8080:80."},
    {"services.environment", "Environment variables of the service. Never a password or a token."},
    {"services.healthcheck", "As in images; stands before that of the image."},
    {"services.depends_on", "Services that start first. One that has a healthcheck has to be healthy."},
    {"services.restart", "When the engine starts it again."},
    {"emit", "Who runs what `cudamatrix emit` writes for CI systems and clusters."},
    {"emit.tool",
     "The git URL of cudamatrix, @ and a commit of 40 digits, for machines that have to build it. Left out: they "
     "have it on their PATH."},
    {"emit.machines", "Kinds of machines. A cell runs on the first whose condition it meets."},
    {"emit.machines.when", "The cells that such a machine runs. Left out: every cell."},
    {"emit.machines.labels",
     "How the system finds the machine: runs-on, tags, queue, label, or features of Slurm's nodes. Required."},
    {"emit.machines.gpu",
     "true: the machine has the cells' GPU, and passing without one is a failure there. Left out: false."},
    {"emit.registry", "The prefix under which clusters find the images, such as registry.example.org/team."},
    {"emit.kubernetes", "Settings of the jobs of Kubernetes."},
    {"emit.kubernetes.namespace", "Their namespace. Left out: the one that kubectl chooses."},
    {"emit.kubernetes.queue", "A local queue of Kueue. Left out: none."},
    {"emit.slurm", "Settings of the job arrays of Slurm."},
    {"emit.slurm.start",
     "How an image is started. run, the default: cudamatrix on the node; or pyxis, apptainer or podman."},
    {"emit.slurm.partition", "Their partition. Left out: Slurm's default."},

    {"fields.driver",
     "The NVIDIA driver of the host. A branch alone is judged as its newest known release, and degraded with the "
     "minimum where older ones fail."},
    {"fields.gpu", "The GPU of the host. It implies the compute capability, the memory and host_class."},
    {"fields.compute",
     "The compute capability, where you have no name of a GPU. Stands beside gpu only to correct it: then it "
     "decides."},
    {"fields.cuda",
     "The CUDA toolkit of the image. The CUDA that a torch wheel brings is another one: torch: ...+cuXXX. Left "
     "out: no toolkit."},
    {"fields.torch",
     "PyTorch. +cuXXX is the CUDA that its wheel was built for; without it, the default build of the Python index "
     "is meant. A nightly (2.9.0.dev20250812+cu128) is judged as the releases around it."},
    {"fields.python",
     "The Python of the image; 3.13t is free-threaded. A patch level is judged as its minor."},
    {"fields.os", "The distribution: of the image, or of the machine where there is no image."},
    {"fields.arch", "The processor. Left out: x86_64, or the GPU's own where it is sold with one only."},
    {"fields.family",
     "What the image is built on. nvidia-cuda, pytorch and ngc are those projects' images; debian, ubuntu and "
     "rockylinux are the distribution's own, with CUDA from its archive or NVIDIA's wheels; cpu is a slim Python "
     "without CUDA. Left out: images are rendered on debian, and rules about images ask nothing."},
    {"fields.flavour",
     "How much of CUDA the image holds. base: the runtime library (cudart); runtime: the math libraries and NCCL, "
     "too; devel: nvcc, too, and the cell compiles. pytorch and cpu have no base, ngc is devel. Left out: devel in "
     "ngc, base in debian, ubuntu and rockylinux, runtime in the others, but base in nvidia-cuda with torch."},
    {"fields.image",
     "A whole image reference, in place of family and flavour. It is judged, and never rendered."},
    {"fields.cuda_from",
     "Where the families of distributions take the toolkit from. archive: the distribution's packages; wheels: "
     "NVIDIA's on the Python index. Left out: the source that has the release."},
    {"fields.compiler",
     "The host compiler that nvcc calls. Naming one says that the cell compiles, so the stage build counts."},
    {"fields.glibc",
     "The C library, where no fact knows the os or the image. Wheels and toolkits ask for a minimum."},
    {"fields.cudnn",
     "The cuDNN of the image, beside the one that torch brings. In family nvidia-cuda it chooses the tags with "
     "cuDNN. A major alone means any release of it."},
    {"fields.kernel_module",
     "Which kernel module of the driver the host has loaded. GPUs from Blackwell on need the open one; those "
     "before Turing need the proprietary one."},
    {"fields.toolkit", "The NVIDIA Container Toolkit of the host, which brings the driver into containers."},
    {"fields.host_class",
     "The class of the GPU, which decides whether CUDA compat libraries work on it. Left out: that of gpu."},
    {"fields.platform",
     "Where the host runs, in your words: conditions of your rules can ask for it. wsl2 is known: Windows' driver "
     "is judged there."},
    {"fields.vram_gb", "The GPU memory that the workload needs, held against that of the GPU or MIG device."},
    {"fields.mig", "How many MIG devices one process gets. CUDA uses one: more are degraded."},
    {"fields.packages",
     "Python packages beside torch. x: any is judged and pinned as what pip would take; numpy: none keeps numpy "
     "out of an image with torch."},
    {"fields.env",
     "Environment variables of the container, as far as rules know them: PYTORCH_CUDA_ALLOC_CONF, NVIDIA_*, "
     "TORCH_CUDA_ARCH_LIST and others. They go into the image, too. Never a password or a token."},
    {"fields.uses",
     "What the code needs that some releases no longer have. A closed list: `cudamatrix facts show removed_apis` "
     "names it. ptx-only: the code reaches the GPU as PTX only."},
    {"fields.arch_list",
     "The architectures that extensions are compiled for. Naming it says that the cell compiles."},
    {"fields.cuda_compat",
     "The CUDA compat libraries (forward compatibility) that the image brings for an older driver."},
    {"fields.shm_gb", "The /dev/shm that the workload needs. Becomes shm_size of its compose service."},
};

}  // namespace

std::span<const SchemaText> schema_texts() {
    return kTexts;
}

std::string_view schema_text(std::string_view key) {
    const auto found = std::ranges::find(kTexts, key, &SchemaText::key);
    return found == std::ranges::end(kTexts) ? std::string_view() : found->text;
}

}  // namespace cudamatrix
