#include <array>

#include "commands/command.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kLintDetails =
    "Looks for values of axes that make no cell of use or mean one release twice, for excludes, includes, "
    "rules and "
    "waivers that match nothing, for waivers that have ended or are about to (--within), for image tags and "
    "wheel "
    "indexes that cannot exist, for cells that share an image against their look, for mirrors, stages and "
    "fields of "
    "set without effect, and for old facts. Each finding has a stable id, a place and a fix; with --format "
    "json the "
    "fix is also there as edits of the file, where it can be. Exit code 1 when there is an error or a "
    "warning, 0 when "
    "there are notes only or nothing.\n"
    "\n"
    "A comment lets a finding be: `# lint: allow ID[, ID...][: reason]` behind a line or in front of it is "
    "for that "
    "line, above the first line of the file for the whole file.";

constexpr std::string_view kRenderDetails =
    "Uses no network and bootstraps nothing. Pins come from cudamatrix.lock beside the matrix file; without "
    "it a "
    "pin reads `unpinned`. The folder changes as a whole: a render that is killed leaves the old files or, "
    "after "
    "the next command, the new ones. What has not changed is not written again; files that belong to no cell "
    "any "
    "more are listed, and removed with --prune; a file that cudamatrix did not write is never touched. The "
    "sources "
    "of the kernels lie in OUT/suite once; `build` puts them into the contexts of images (for the target "
    "`proof` "
    "by hand: cp -r ../../suite . in the image's folder), and what `images:` of the matrix file copies.\n"
    "\n"
    "compose.yaml starts one service for each image, or what `services:` of the matrix file says, and runs "
    "on "
    "any machine; one of two overlays adds the GPUs: compose.gpu.yaml reserves them (docker), "
    "compose.cdi.yaml names them by CDI (podman). `docker compose -f compose.yaml -f compose.gpu.yaml up`. "
    "What images and services add is judged too: an allocator setting that the torch of an image does not "
    "know, a capability that no GPU has.\n"
    "\n"
    "--check writes nothing. Exit code 1 when the folder is not what the matrix gives: it prints a diff that "
    "`patch -p1` takes in the folder, the files, and the command that mends it.\n"
    "\n"
    "--explain images/ID/Dockerfile:12 writes nothing either: it names the line of the template behind that "
    "line, "
    "and the partials through which it was reached; without :LINE, of all lines.";

}  // namespace

std::span<const CommandRow> all_commands() {
    static const std::array rows{
        CommandRow{
            "check", "Judge every cell: can it work, where would it fail, why",
            "Reads the matrix file and the facts; needs no network, no engine and no GPU. Exit code 1 "
            "when any cell is rejected or unknown. Own checks stand under `rules:` of the matrix file, "
            "findings that you accept, with a reason and an end, under `waive:`. With --out DIR the "
            "report is written there as check.txt, check.json or check.github.txt too.\n"
            "\n"
            "--override driver=580 judges as if the field had that value in every cell. --host asks this "
            "machine "
            "(nvidia-smi, /proc/driver/nvidia, nvidia-ctk, /etc/os-release) and puts what it finds in the "
            "place of "
            "driver, gpu, compute, kernel_module, toolkit and arch in every cell, one cell for each "
            "different GPU; its "
            "os and glibc only where the file names no os, glibc, family or image, because cells run in "
            "images "
            "otherwise. What is not found keeps the values of the file, and the report says why. Without a "
            "driver and "
            "without a GPU there is nothing to judge against: exit code 3.",
            "cudamatrix check matrix.yaml --format json", add_check},
        CommandRow{
            "explain", "Say why a cell is there or not, and what its verdict rests on",
            "Prints the verdict at every stage, the rules that fired with their facts and sources, what "
            "passed and on which facts, what was not checked and for want of which field, and for a "
            "rejected cell the nearest ones that work: those with the fewest other values. A cell that "
            "an exclude leaves out is named with the line. With the id of a rule it prints what `rules "
            "show` does. Exit code 1 when a cell is rejected, unknown or not there.",
            "cudamatrix explain matrix.yaml --where cuda=11.8,python=3.12", add_explain},
        CommandRow{
            "suggest", "Find the newest stacks that meet what you have and need",
            "Searches what the facts know by the rules that `check` uses. Order: accepted before "
            "degraded, then the newest torch, the newest CUDA of its wheel, the newest python, toolkit, "
            "packages and driver; one stack for each build of torch. Fields that are not asked for range "
            "over "
            "the facts (torch, python, driver) or stay away. Where there is no stack, exit code 1: it "
            "prints the smallest sets of demands that conflict, with the facts, and the least changes "
            "that help. --out DIR writes the rows as suggest.yaml, too.",
            "cudamatrix suggest --gpu T4 --driver 470.161.03 --torch '>=1.12' --python 3.9 --need "
            "transformers==4.27.4",
            add_suggest},
        CommandRow{"lint", "Find what in a matrix file does nothing, or not what it looks like", kLintDetails,
                   "cudamatrix lint matrix.yaml --format json", add_lint},
        CommandRow{
            "list", "List the cells, or the good ones as a CI matrix",
            "Prints every cell with its verdict; --format github-matrix prints the accepted and "
            "degraded ones on one line for fromJSON. --images lists the images that those cells need, each "
            "with the cells that share it; the CI matrix then has an entry for each image.",
            "cudamatrix list matrix.yaml --format github-matrix", add_list},
        CommandRow{
            "lock", "Pin digests of bases, apt versions and wheel hashes into cudamatrix.lock",
            "Asks registries (through mirrors:) for the digests of their tags, and resolves packages and "
            "wheels inside the image's own base through the engine; needs the network that the matrix file "
            "or --network allows. Credentials of registries come from where docker, podman and netrc keep "
            "them. Run again, it changes nothing that is pinned: a tag that moved or vanished is a finding "
            "(exit 1), --update moves pins on purpose. build: {snapshot: 2026-11-01} in the matrix file "
            "resolves packages as the distribution's archive was that day. The only command that writes "
            "cudamatrix.lock (run calls it when it is absent).",
            "cudamatrix lock matrix.yaml --network host", add_lock},
        CommandRow{"render", "Write Dockerfiles and compose files of the good cells", kRenderDetails,
                   "cudamatrix render matrix.yaml --out cudamatrix-out/training", add_render},
        CommandRow{"build", "Build the images",
                   "Renders, bootstraps the bases and builds what changed. Needs a lock.",
                   "cudamatrix build matrix.yaml --network host", add_build},
        CommandRow{
            "test", "Run the kernel suite inside the built images",
            "Without a GPU the result is pass-static (exit code 4), never pass. --prove-rejected attempts "
            "the rejected cells instead: one rejected at install or build has to fail there with its "
            "rule's own words, one whose driver is too old has to be refused by the CUDA runtime on a "
            "stand-in for that driver, each beside a control that passes. Exit code 1 when one works after "
            "all, when one is inconclusive (no network ...), or when none could be attempted.",
            "cudamatrix test matrix.yaml --prove-rejected --where cuda=12.4.1 --network host", add_test},
        CommandRow{"run", "The main job: check, lock when absent, render, build, test, report",
                   "Cells that are rejected or unknown are skipped and counted. Reports are also written "
                   "below --out.",
                   "cudamatrix run matrix.yaml --network host --out cudamatrix-out/training", add_run},
        CommandRow{
            "facts", "Show what is known, and from which source",
            "`facts list` lists the tables, `facts show ID` shows a table or a row, `facts search WORD` "
            "finds rows, `facts check` checks a folder of your own, `facts measure` writes rows by looking "
            "into the wheels of an index, `facts refresh` looks for what is newer than the facts. A warning "
            "is printed when the facts "
            "are older than 180 days.",
            "cudamatrix facts search T4 compute", add_facts},
        CommandRow{"rules", "Show what is checked, and why",
                   "`rules list` lists the rules, `rules show ID` one of them: what it says, why, an example "
                   "that fails and one that passes.",
                   "cudamatrix rules show driver-supports-cuda", add_rules},
        CommandRow{
            "templates", "Show and check what images are rendered from",
            "`templates list` lists the templates, `templates show NAME` prints one, to be copied into a "
            "folder of your own and changed there; --templates DIR names that folder, for `render`, "
            "`build` and `run` as well. `templates check` parses all of them and fills them from a "
            "sample matrix: every mistake with file, line and column, exit code 2.",
            "cudamatrix templates check --templates my-templates", add_templates},
        CommandRow{
            "scan", "Show which GPU code is really inside libraries",
            "Reads headers only: nothing is executed or written, and no code is decompressed. A wheel is "
            "read where it lies, "
            "one on an index over range requests, its sha256 compared; of an image, in a registry too, every "
            "layer is read as it goes by, "
            "nothing is unpacked, and files that later layers replace or remove do not count. With GPUs "
            "given every library "
            "is answered for each of them: machine code (sass), machine code of an earlier minor, PTX that "
            "the "
            "driver compiles, or nothing. Containers without kernels are listed and never count. Exit code 1 "
            "when a library has no code for a GPU given, or it cannot be told; 2 when a target is none or is "
            "damaged; 3 when a file cannot be read.",
            "cudamatrix scan /usr/lib/python3/dist-packages/torch --gpu T4,H100 --driver 535", add_scan},
        CommandRow{
            "schema", "Print the JSON schema of matrix files, for editors",
            "Keys, closed lists and shapes (JSON Schema, draft 7): an editor completes and marks them while "
            "you write. What `check` refuses beyond that, an editor does not see. With the YAML language "
            "server, write above the file: # yaml-language-server: $schema=schema.json",
            "cudamatrix schema > schema.json", add_schema},
    };
    return rows;
}

}  // namespace cudamatrix
