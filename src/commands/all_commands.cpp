#include <array>

#include "commands/command.hpp"
#include "commands/common.hpp"
#include "matrix/matrix_file.hpp"
#include "report/matrix_reports.hpp"

namespace cudamatrix {

std::span<const CommandRow> all_commands() {
    static const std::array rows{
        CommandRow{"check", "Judge every cell: does it work, where would it fail, why",
                   R"(Reads the matrix file and the facts. Needs no network, no engine and no GPU.
Exit code 1 if any cell is rejected or unknown; with --against-lock, if a verdict
is another one than cudamatrix.lock records.

Prints a line for each finding and one for its fix, the worst first; -v adds
the line of the file, the facts with their sources, and notes. Then the cells:
up to 40 a line each, more as a grid of what decides. --format markdown prints
the same for a pull request, --format github annotates it. --format sarif is for
code scanning (SARIF 2.1.0): error stays error, unknown and degraded are warning,
ends of life, notes and what is waived are note. Run it in the repository's root.
--step-summary also puts the Markdown on the page of the job, as `diff`, `review`,
`render`, `build`, `test`, `run`, `report` and `collect` do.

Add your own checks under `rules:` in the matrix file. Waive a finding under
`waive:`, with a reason and an end date. --out DIR also writes the report to
check.txt, check.json, check.md, check.github.txt or check.sarif in that folder.

--override driver=580 judges every cell with that value.

--host judges against this machine (nvidia-smi, /proc/driver/nvidia, nvidia-ctk,
/etc/os-release). What it finds replaces driver, gpu, compute, kernel_module,
toolkit and arch in every cell, with one cell for each kind of GPU. It replaces
os and glibc only if the file names no os, glibc, family or image, because cells
otherwise run in images. What is not found keeps the values of the file, and the
report says why. Exit code 3 if there is neither a driver nor a GPU. --host FILE
takes a machine that `doctor --format json` wrote; several are a fleet, with cells
for each different driver and GPU that stand in one machine.)",
                   "cudamatrix check matrix.yaml --format json", add_check},
        CommandRow{"explain", "Explain the verdict of a cell, or why there is no such cell",
                   R"(Prints the verdict, what decides it with the facts behind it and a fix, and, for
a rejected or unknown cell, the nearest one that works: that with the fewest
changed values. -v prints the verdict at each stage, every finding, what passed
and on which facts, and what was not checked because a field is missing. For a
cell that an exclude removes it names the line. With the id of a rule it prints
what `rules show` prints. Exit code 1 if a cell is rejected, unknown or does not exist.)",
                   "cudamatrix explain matrix.yaml cuda=11.8,python=3.12", add_explain},
        CommandRow{"suggest", "Find the newest stacks that fit what you have and need",
                   R"(Searches everything the facts know, with the rules that `check` uses. Prints one
stack for each build of torch, and why it stands where it does: what installs
from wheels first, then the newest release of each --need, the newest torch, the
fewest limits, and drivers and pythons that are still repaired. Family, system
and, where the family needs one, toolkit are filled in so that `render` makes
the image.

If no stack fits, prints the smallest sets of demands that conflict, the facts
behind them, and the smallest changes that help; exit code 1. --out DIR also
writes the stacks to suggest.yaml.)",
                   "cudamatrix suggest --gpu T4 --driver 470.161.03 --torch '>=1.12' --python 3.9 --need "
                   "transformers==4.27.4",
                   add_suggest},
        CommandRow{"lint", "Find what has no effect in a matrix file, or an unexpected one",
                   R"(Finds axis values that are unused or repeat a release, conditions that match
nothing, expired waivers and those that expire soon (--within), image tags and
wheel indexes that cannot exist, cells that unexpectedly share an image, unused
mirrors, stages and fields of set, and old facts.

Each finding has a stable id, a place and a fix; --format json adds the fix as
edits of the file where possible, --format sarif as replacements for code scanning.
Exit code 1 if there is an error or a warning, 0 if there are only notes.

A comment `# lint: allow ID[, ID...][: reason]` suppresses a finding. It applies
to its own line, to the line below it, or, above the first line, to the file.)",
                   "cudamatrix lint matrix.yaml --format json", add_lint},
        CommandRow{"init", "Write a matrix file to start from",
                   R"(Writes matrix.yaml (--out) from files that you have, or from a preset; a file that is
there stays. Its first `check` has no error.

--from reads Dockerfiles, requirements, lock files and images as `audit` does, makes
a row of each stack, and says at once what is wrong: what does not work becomes the
nearest combination that does, and the file says what was changed. Images of NVIDIA,
PyTorch, python and distributions become families, so that `render` makes them.
--driver and --gpu, or --host for those of this machine or of files of `doctor`,
stand in each row. Without --from and --preset they give the newest stacks that
work there.)",
                   "cudamatrix init --from Dockerfile --driver 580 --gpu A100", add_init},
        CommandRow{"audit", "Judge what Dockerfiles, requirements and lock files install",
                   R"(Reads Dockerfiles, compose files, requirements, conda environments, pyproject.toml,
uv.lock and poetry.lock, or all of them below a folder, and judges what they install
by the rules of `check`. Each finding stands at its line. With --driver and --gpu it
also says whether that machine runs it. Nothing is built and no file changes.

Variables are followed (ARG, ENV, --build-arg), and the stages of a Dockerfile;
requirements that an install names are read with it, and Dockerfiles that a
compose file builds. What is known in the build only is not judged, and is listed
with the reason. An unpinned torch is judged as the release that pip would take
today (--on).

Prints what is wrong, the verdict of each stack (image or environment), what was
not judged, and a matrix file to go on with; --out DIR writes that to audit.yaml.
Exit code 1 if a line is an error (--fail-on). --format sarif and github are for
code scanning and pull requests.)",
                   "cudamatrix audit Dockerfile --driver 535 --gpu T4", add_audit},
        CommandRow{"diff", "Show what moved between two states: cells, pins, facts, sizes",
                   R"(Each side is one of
  a matrix file       judged as of today (--on); its pins are those of the lock
                      beside it
  cudamatrix.lock     the verdicts that it recorded, and its pins
  report.json         what `run` wrote: outcomes of cells, sizes of images
  a folder of facts   its own rows; with --matrix also the verdicts of that matrix
                      with each folder laid over the embedded facts
  REV:PATH            one of these in a git commit, e.g. HEAD~1:./matrix.yaml
Compare two of a kind, or a matrix file with a lock.

Prints cells whose verdict moved, once for each reason, the worse ones first; new
and gone cells; versions and digests that moved; rows of facts; sizes. --format
markdown is a comment for a pull request. Exit code 1 if a cell, a pin or a fact
moved. A size alone does not count, nor a row that was only looked up again.)",
                   "cudamatrix diff main:./matrix.yaml matrix.yaml --format markdown", add_diff},
        CommandRow{"upgrade", "Move the values of a matrix file on: newer torch, CUDA, drivers",
                   R"(--to says where:
  hold        every value to the newest of its line (driver branch, CUDA minor,
              torch minor) with which no cell gets worse or has one more limit
  next        beside that the newest torch, CUDA and python with which no cell gets
              worse. A driver or system that ends within 12 months moves to the one
              that lasts longest; pythons and systems of an axis that ended are dropped
  ambitious   the newest torch (image, CUDA) with which a cell works, on the newest
              hosts, with as many cells as possible: others may be lost
  cuda=12.8.1,torch=2.8.0+cu128
              these values
An axis with one value gets the new one in its place, one with several gets it
beside them. What goes together moves together: torchvision and its like with
torch, the toolkit with the CUDA of torch's build, an nvidia/cuda tag with it. Of
the builds of a release the default one comes first. Only values that were out on
the day (--on) are proposed, and the rules are asked about every cell.

Prints what moves, which verdicts change and why, and the patch (--format patch:
the patch alone, for `patch -p0`). --write edits the file instead: comments and
layout stay. An edit that loses a cell that `keep:` of
the file names, e.g. keep: [{gpu: V100}], is not written unless --lose is given.
Exit code 0 if there is nothing to move or the file was written, 1 if there is
a patch.)",
                   "cudamatrix upgrade matrix.yaml --to next --write", add_upgrade},
        CommandRow{"review", "Review a matrix: what moved, what ends, what is newest, where to go",
                   R"(The quarterly review in one report: what changed since the lock, a revision or a
day; a calendar of the next 12 months (ends of life, deletions of images, waivers);
what is newest and what each newer value alone would break or fix; three ways
to go (hold, next, ambitious, as `upgrade` finds them) with their edits; what the
stacks ask of a machine; why these versions, and why not others; which images to
copy before NVIDIA may delete them; which facts are old. Every statement names
the facts behind it. Where something ends within 60 days, it begins with a plan
and its commands.

--on DATE reviews as of that day: what came out later is not known then. --facts
DIR reviews with the rows of that folder, and says what they change. --format
github-pr is the text of a pull request. --format json holds the edited files:
`upgrade MATRIX --apply review.json --to next` takes one. Exit code 0.)",
                   "cudamatrix review matrix.yaml --since v1.4 --format html > review.html", add_review},
        CommandRow{"list", "List the cells, or the good ones as a CI matrix",
                   R"(Prints every cell with its verdict. --format github-matrix prints the accepted
and degraded cells on one line, for fromJSON. --images lists the images that
these cells need, each with the cells that share it; the CI matrix then has one
entry for each image: id, tag, folder, runner and cells. --runner gives the label
for images with CUDA. A job then does `cudamatrix run MATRIX --only ${{ matrix.id }}`.
--github-output NAME also makes the line the output NAME of the step. --format
matrix prints the matrix file itself in one canonical form, as it was read: values
in our spelling and those of --override, no comments, no settings that are the
default. Reading that again gives the same cells, verdicts and settings.)",
                   "cudamatrix list matrix.yaml --images --format github-matrix --runner gpu-t4", add_list},
        CommandRow{"lock", "Pin base digests, apt versions and wheel hashes in cudamatrix.lock",
                   R"(Asks registries (through mirrors:) for the digests of tags, and resolves packages
and wheels inside each base image through the engine, with the network that
--network or build.network says, or else the engine's own. Registry credentials
come from where docker, podman and netrc keep them. The verdict of every cell is
recorded as well, for check --against-lock, and so is what bases, and the images
that cells name by image:, require of the host: every command judges by that,
without a network.

A second run changes no pin: a tag that moved or vanished is a finding (exit
code 1). --update moves pins on purpose. No other command writes cudamatrix.lock,
except that run creates a missing one.

Packages of Debian and Ubuntu come from the state that the archive had when today
began, if its snapshot service has it: a live archive drops what is pinned. If not,
the live archive is taken, and a line says so. The lock keeps what it took until
`lock --update`. build: {snapshot: none} in the matrix file always takes the live
archive, {snapshot: 2026-11-01} the state of that day.

--only IMAGE..., --cell, --where and --failed choose what is pinned; all other pins
and verdicts stay.)",
                   "cudamatrix lock matrix.yaml", add_lock},
        CommandRow{"render", "Write Dockerfiles and compose files for the good cells",
                   R"(Uses no network and bootstraps nothing. Pins come from cudamatrix.lock next to the
matrix file; without it a pin reads `unpinned`.

The output folder changes as a whole: after a killed render it holds the old
files or, after the next command, the new ones. Unchanged files are not written.
Files that no longer belong to a cell are listed; --prune removes them. A file
that cudamatrix did not write is never touched.

compose.yaml starts one service for each image, or those under `services:`, and
runs on any machine. Two overlays add the GPUs: compose.gpu.yaml reserves them
(docker), compose.cdi.yaml names them by CDI (podman):
    docker compose -f compose.yaml -f compose.gpu.yaml up
A service without a command waits for `docker compose exec NAME bash`. Images have
a healthcheck: that of images:, or else `import torch`, or whether libcudart is
found. What images: and services: add is judged too.

The kernel sources are in OUT/suite. `build` copies them, and the files that
images: copies, into the build contexts. To build the target `proof` by hand,
first run `cp -r ../../suite .` in the folder of the image. OUT/make-base.sh makes
bootstrapped bases by hand, for docker build or compose: `sh make-base.sh bookworm`.

--only IMAGE..., --cell, --where and --failed choose images: the folders of the
others stay as they are, or are not made. index.json and the compose files are
always about the whole matrix.

--check writes nothing. If the folder differs from the matrix it prints a diff
that `patch -p1` accepts in the folder, the files, and the command that fixes
it; exit code 1.

--explain images/ID/Dockerfile:12 writes nothing. It shows the template and line
that line 12 comes from, and the partials in between; without :LINE, those of
every line.)",
                   "cudamatrix render matrix.yaml --out cudamatrix-out/training", add_render},
        CommandRow{"build", "Build the images",
                   R"(Renders, bootstraps the bases and builds what changed. Needs a lock.

--only IMAGE..., --cell, --where and --failed choose what is built; the rest is
reported as not chosen, and counts for nothing, not even with --strict.

-j N builds run at a time; --dry-run prints them instead. See `run`.

--prepare makes the bases and fills the build contexts, and builds nothing: any
builder can do that then, for example `docker buildx bake` with what `emit bake`
writes.)",
                   "cudamatrix build matrix.yaml --only debian12-cu11.8.0", add_build},
        CommandRow{"test", "Run the kernel suite inside the built images",
                   R"(Without a GPU the result is never pass (exit code 4). It is pass-interpreted where
the kernels' PTX, as the image's nvcc made it, was executed by our interpreter on
the CPU, or else pass-loaded. The report counts for each cell, and for each image
once, what passed, what was interpreted, what needs a GPU and what was skipped,
and names the drivers that ran and those that are predicted because nothing did.
A test that several cells ran in one image counts once there: as failed if it
failed for any of them, or else as what the most telling of its results says.

--prove-rejected attempts the rejected cells instead. A cell rejected at install
or build must fail there, with the words that its rule predicts. A cell whose
driver is too old must be refused by the CUDA runtime, on a stand-in for that
driver. Each attempt has a control that must pass. Exit code 1 if a rejected
cell works after all, if an attempt is inconclusive (no network ...), or if
none was possible.)",
                   "cudamatrix test matrix.yaml --prove-rejected --where cuda=12.4.1", add_test},
        CommandRow{"run", "The main job: check, lock if missing, render, build, test, report",
                   R"(Rejected and unknown cells are skipped and counted. Reports in all formats are
also written to the folder of --out: report.txt, .json, .xml, .tap, .md and .html.

The whole matrix is judged and planned. --only IMAGE..., --cell, --where and
--failed choose what is attempted; of one option any word will do, of several
options all have to hold. --failed takes the images that failed or were not
finished when they were last run in this folder. --max-images N refuses to
attempt more.

Steps: bases, images, proofs, tests. -j N builds run at a time, each GPU has one
test at a time, and a cell is tested as soon as its image is there. A step that
fails stops only what stands on it (--fail-fast: everything), and the end of its
log is shown. A build that the network or a registry's server spoilt is tried
again, a failing test never. A further run does what changed, failed or was not
reached, and says what it leaves. --dry-run prints the programs that would be
started.)",
                   "cudamatrix run matrix.yaml --out cudamatrix-out/training --failed", add_run},
        CommandRow{"sbom", "Write what built images hold, as SPDX and CycloneDX",
                   R"(Asks each image that is built which packages of its distribution and of python it
holds, in containers without network, and adds what the lock pins of that: hashes,
addresses, the digest of its base. Writes OUT/sbom/ID.spdx.json (SPDX 2.3) and
OUT/sbom/ID.cdx.json (CycloneDX 1.6). Licences are not looked at.

Exit code 1 if an image is not built, does not answer, or holds another version
than the lock pins.)",
                   "cudamatrix sbom matrix.yaml --only debian12-cu11.8.0", add_sbom},
        CommandRow{"emit", "Write what CI systems, buildx bake or a cluster run of a matrix",
                   R"(Other engines distribute; this writes what they read, each image and machine a task:
  github      a workflow: judge, jobs by image with GitHub's build cache (those first
              whose stages others need), shards below the limit of a matrix, results
              as artifacts, one summary
  gitlab      a parent pipeline and its children, with JUnit reports
  buildkite   a pipeline that uploads the others
  jenkins     a declarative pipeline with a matrix for each kind of machine
  kubernetes  indexed jobs on nodes that have the cell's GPU and driver, by the labels of
              GPU Feature Discovery, hardened as our own containers; with Kueue if you
              name a queue
  slurm       job arrays, an array for each kind of machine (labels are features); `start:`
              says how an image is started: run, pyxis, apptainer or podman
  bake        targets of `docker buildx bake` that build what `build` builds

Run it in the root of the repository: the files name the matrix file as you do.
Each job does `cudamatrix run MATRIX --only IMAGE --locked`, so commit the lock. The
matrix file says who runs what, and where machines without cudamatrix get it:
    emit:
      tool: https://git.example.org/tools/cudamatrix@COMMIT
      machines:                                # the first that matches a cell
        - {when: {gpu: [T4, L4]}, labels: [self-hosted, gpu-t4], gpu: true}
        - {when: {arch: aarch64}, labels: [ubuntu-24.04-arm]}
      registry: registry.example.org/team      # where clusters find the images
      kubernetes: {namespace: gpu-tests, queue: team-a}
      slurm: {start: pyxis, partition: gpu}
On a machine with gpu: true a pass without a GPU is a failure.

`collect MATRIX results/` makes one report of what all machines did. --missing results/
emits only what no machine answered.

The files are the same bytes every time. --check compares them with the matrix, as
`render --check` does; the first job of every pipeline does it, too.)",
                   "cudamatrix emit github matrix.yaml --out .github/workflows", add_emit},
        CommandRow{"report", "Print the report of earlier commands again, several as one",
                   R"(Reads what render, build, test and run wrote with --format json, or report.json of
their output folder, and prints it in any format. A value that is missing, unknown
or contradicts the others is refused with its place in the file.

Several files, of several machines for example, become one report. They have to be
of one matrix, version and facts, and of the same files for each image. Of a cell that is in several files, the result
that says most stands: tested, else built or rendered, else skipped, else not
chosen; of equal ones that of the file that is named last. An image that was built
stands before one that was not.

The exit code is that of the report; of several files, or with one of --strict,
--require-gpu and --accept-static, it is what `run` would end with for these
results.

--format html is one page that opens from its file, without a network: the matrix
as a grid, filters, a search, and everything about each cell. Its links to logs
work from the output folder, or, of several files, from where the command was run.
--format markdown is a comment for a pull request; what does not fit into one is
counted.)",
                   "cudamatrix report t4/report.json h100/report.json --format html > both.html", add_report},
        CommandRow{"collect", "Make one report of what many machines answered, and name what is missing",
                   R"(Plans the matrix as `run` does, with its lock, and holds against that plan what
machines of a CI system, of Slurm or of Kubernetes gave: report.json of
`run --only ...`, or what the suite of an image printed. A folder is walked for
report.json, and for *.jsonl, *.log, *.txt and *.out with lines of the suite;
symbolic links in it are not followed. Other lines of a log are counted.

Refused is (exit code 2) a report of another matrix, version or facts, an image
that was made of other files than the plan says (another lock, another edit of the
matrix file), a cell or image that the plan does not have, and lines that do not
carry the name by which the plan asks for their cell. Give --level, --facts,
--override and the like as they were given to the machines.

Lines of the suite are judged as `test` judges them: what contradicts itself or has
no end is a failure. That a cell ran on a GPU is believed where a GPU was asked for
and it is the one of the cell.

Of a cell that is there several times the result that says most stands, of equal
ones the last: see `report`. After the results stand the cells that no machine
answered; in JSON their outcome is planned. Exit code 1 if there is one (3 if that
is because the environment kept an image from being built); otherwise as `run`
would end with these results. --out DIR also writes the report to collected.txt,
.json, .xml, .tap, .md or .html in that folder.)",
                   "cudamatrix collect matrix.yaml results/ --format html > all.html", add_collect},
        CommandRow{"clean", "Remove the containers and images of ours that an engine still holds",
                   R"(Every container of a test carries a label of ours, and is removed when the test
ends. This removes what a killed run left: containers with that label, running or
not, and also those of a run that is still at work elsewhere. --images removes
the images that were built as well: those called cudamatrix/..., and those that
lost their name to a newer build.

Nothing else is touched: an image that you gave another name, or made from one of
ours, is kept and named. --out DIR removes only what was run and built for that
output folder. Exit code 1 if something could not be removed.)",
                   "cudamatrix clean --images --dry-run", add_clean},
        CommandRow{"doctor", "Check this machine for GPU work",
                   R"(Looks at the driver, its module in the kernel (nouveau, Secure Boot), its libraries
and device nodes, asks libcuda and NVML as programs do, and looks at the GPUs, the
container toolkit, its known flaws and no-cgroups, CDI files, the engines and
whether a GPU reaches a container of theirs, disks, /dev/shm, LD_LIBRARY_PATH and
variables of CUDA. It asks registries and the index that pip would ask (--offline:
none), compares the clock with theirs, and says what torch in the environments
here would do on this machine. Each line is ok, warn, fail or skipped (with the
reason). Where there is one, a fix and the document behind the judgement follow.

Nothing is installed, pulled or changed, and no root is needed. Each tool and
server gets 5 seconds to answer, all of them 30. A machine without a GPU is no
failure. Exit code 1 if a line is fail.

The JSON is a machine for others to judge on: `cudamatrix check --host FILE.json`,
with several of them as a fleet.

--symptom TEXT says what an error message of CUDA, torch, docker, nvcc, pip or the
driver means: its cause, its fix, the rules and facts that decide it, what this
machine says of it, and a public thread about it. Of a log on stdin (-) every
message that is known is found, the most specific first:
    docker run --gpus all IMAGE 2>&1 | cudamatrix doctor --symptom -
Exit code 1 if none is known.)",
                   "cudamatrix doctor --symptom \"no kernel image is available\"", add_doctor},
        CommandRow{"facts", "Show what is known, and from which source",
                   R"(`facts list` lists the tables.
`facts show ID` shows a table or a row.
`facts search WORD` finds rows.
`facts check` checks a folder of your own tables.
`facts measure` writes rows by inspecting the wheels of an index.
`facts refresh` looks for releases that are newer than the facts.

Warns if the facts are older than 180 days.)",
                   "cudamatrix facts search T4 compute", add_facts},
        CommandRow{"rules", "Show what is checked, and why",
                   R"(`rules list` lists the rules.
`rules show ID` shows one: what it checks, why, an example that fails and one
that passes.)",
                   "cudamatrix rules show driver-supports-cuda", add_rules},
        CommandRow{"kernels", "Show what the tests inside the images prove, or build them",
                   R"(`kernels list` lists the tests of the kernel suite.
`kernels show ID` shows tests: what each proves, what it compares with and within
which tolerance, the faults that it names, and what it needs. With a fault, as
reports name it (F6), what it means and which tests name it.
`kernels build --out DIR` compiles the suite with this machine's nvcc and g++ into
a folder of programs, the PTX interpreter's libcudart beside them. Copied to any
machine, DIR/suite run runs the tests there: on its GPU, or without one as far as
can be. Exit code 1 if a program does not compile; 3 without nvcc.)",
                   "cudamatrix kernels show cmp.sgemm F6", add_kernels},
        CommandRow{"templates", "Show and check the templates that images are rendered from",
                   R"(`templates list` lists the templates.
`templates show NAME` prints one, for you to copy and change.
`templates check` parses them all and fills them from a sample matrix. Each
mistake is reported with file, line and column; exit code 2.

--templates DIR names the folder of your own templates, here and for `render`,
`build` and `run`.)",
                   "cudamatrix templates check --templates my-templates", add_templates},
        CommandRow{"scan", "Show which GPU code libraries really contain",
                   R"(Reads headers only: executes, writes and decompresses nothing. Reads a wheel in
place, or from an index by range requests, and compares its sha256. Reads an
image, also from a registry, layer by layer without unpacking it; files that
later layers replace or remove do not count.

For each GPU given, each library has machine code (sass), machine code of an
earlier minor version, PTX that the driver compiles, or nothing. Containers
without kernels are listed but never count. Relocatable code (nvcc -rdc=true)
counts where it is linked, and otherwise if each of its parts has code: the
driver links all of them or none.

Exit code 1 if a library has no code for a GPU, or it cannot be told; 2 if a
target is damaged or of an unknown kind; 3 if a file cannot be read.)",
                   "cudamatrix scan /usr/lib/python3/dist-packages/torch --gpu T4,H100 --driver 535",
                   add_scan},
        CommandRow{"schema", "Print the JSON schema of matrix files or reports",
                   R"(Keys, closed lists and shapes (JSON Schema, draft 7), for completion and errors
while you type. `check` finds more than the schema can. For the YAML language
server, put this line at the top of the file:
    # yaml-language-server: $schema=schema.json
--of report prints the schema of what `check --format json` writes.)",
                   "cudamatrix schema > schema.json", add_schema},
        CommandRow{"help", "Show the help of a command, as --help does",
                   R"(`help` shows all commands, `help facts measure` one.)", "cudamatrix help check",
                   add_help},
        CommandRow{"man", "Print a page of the manual",
                   R"(cudamatrix(1), or cudamatrix-COMMAND(1), in mdoc(7), for `man -l -` or an archive of
pages. The packages hold all of them.)",
                   "cudamatrix man check | man -l -", add_man},
        CommandRow{"completion", "Print the completion of commands, options and values for a shell",
                   R"(For this session of bash: source <(cudamatrix completion bash). For all of them, write
it to the folder of your shell:
  bash  ~/.local/share/bash-completion/completions/cudamatrix
  zsh   a folder of $fpath, as _cudamatrix
  fish  ~/.config/fish/completions/cudamatrix.fish
The packages hold all three.)",
                   "cudamatrix completion bash > ~/.local/share/bash-completion/completions/cudamatrix",
                   add_completion},
    };
    return rows;
}

Action add_schema(const Arguments& app) {
    struct Options {
        std::string format;
        std::string of = "matrix";
    };
    auto options = std::make_shared<Options>();
    app.add_option("--of", options->of, "The matrix file, or the report of check")
        .one_of({"matrix", "report"})
        .show_default();
    add_format(app, options->format, {"json"});
    return [options](const World&) {
        print(options->of == "report" ? std::string(report::check_schema())
                                      : to_text(matrix_schema()) + "\n");
        return ExitCode::success;
    };
}

}  // namespace cudamatrix
