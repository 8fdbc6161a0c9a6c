#include <doctest/doctest.h>

#include "base/text.hpp"
#include "emitted.hpp"

using namespace cudamatrix;
using emit::Task;
using test::EmitInput;

namespace {

const std::string kMatrix =
    R"(axes: {gpu: [T4, A100, H100], cuda: ["11.8.0", "12.4.1"], driver: ["580.65.06"]}
set: {family: debian}
)";
const std::string kMachines = kMatrix + R"(emit:
  registry: registry.example.org/team
  machines:
    - {when: {gpu: T4}, labels: [self-hosted, gpu-t4], gpu: true}
    - {when: {gpu: [T4, H100]}, labels: [gpu-h100], gpu: true}
)";

std::string shown(const std::vector<Task>& tasks) {
    std::string out;
    for (const auto& task : tasks) {
        std::vector<std::string> after;
        for (const auto image : task.after)
            after.push_back(std::to_string(image));
        out += fmt::format("{}: image {}, cells [{}], labels [{}]{}, after [{}]\n", task.name, task.image,
                           text::join(task.cells, " "), text::join(task.labels, " "), task.gpu ? ", gpu" : "",
                           text::join(after, " "));
    }
    return out;
}

std::string refused(const emit::Input& input, std::string_view target = "github") {
    const auto files = emit::write_all(*emit::emitter_named(target), input);
    REQUIRE_FALSE(files.ok());
    CHECK(files.failure().code == ExitCode::bad_input);
    return files.failure().diagnostics.front().message;
}

}  // namespace

TEST_CASE("without machines each image is one task") {
    const EmitInput made(test::planned(kMatrix));
    CHECK(shown(emit::tasks_of(made.input())) == R"(debian12-cu11.8.0: image 0, cells [], labels [], after []
debian13-cu12.4.1: image 1, cells [], labels [], after []
)");
}

TEST_CASE("a cell goes to the first machine that matches it, and an image is built first on one") {
    const EmitInput made(test::planned(kMachines));
    CHECK(
        shown(emit::tasks_of(made.input())) ==
        R"(debian12-cu11.8.0-on-gpu-t4: image 0, cells [drv580.65.06-t4-cu11.8.0-debian], labels [self-hosted gpu-t4], gpu, after []
debian12-cu11.8.0-on-gpu-h100: image 0, cells [drv580.65.06-h100-cu11.8.0-debian], labels [gpu-h100], gpu, after [0]
debian12-cu11.8.0-on-any: image 0, cells [drv580.65.06-a100-cu11.8.0-debian], labels [], after [0]
debian13-cu12.4.1-on-gpu-t4: image 1, cells [drv580.65.06-t4-cu12.4.1-debian], labels [self-hosted gpu-t4], gpu, after []
debian13-cu12.4.1-on-gpu-h100: image 1, cells [drv580.65.06-h100-cu12.4.1-debian], labels [gpu-h100], gpu, after [1]
debian13-cu12.4.1-on-any: image 1, cells [drv580.65.06-a100-cu12.4.1-debian], labels [], after [1]
)");
}

TEST_CASE("what shares a stage waits for the image that makes it, and for none that waits") {
    const EmitInput made(test::planned(
        "axes: {gpu: [T4], cuda: [\"11.8.0\", \"12.4.1\", \"13.4.3\"], driver: [\"580.65.06\"]}\nset: {family: debian}\n"));
    auto input = made.input();
    const auto after = [&] {
        std::string out;
        for (const auto& task : emit::tasks_of(input))
            out += task.after.empty() ? "-" : std::to_string(task.after.front());
        return out;
    };
    CHECK(after() == "---");
    input.shared = {{0, 1, 2}};
    CHECK(after() == "-00");
    input.shared = {{2, 1}};
    CHECK(after() == "--1");
    input.shared = {{0, 1}, {1, 2}};
    CHECK(after() == "--1");
    input.shared = {{0, 2}, {1, 2}};
    CHECK(after() == "--0");
}

TEST_CASE("tasks of machines with one label have names of their own") {
    const EmitInput made(test::planned(kMatrix + R"(emit:
  machines:
    - {when: {gpu: T4}, labels: ["queue=a/b"]}
    - {when: {gpu: H100}, labels: ["queue=a:b"]}
)"));
    std::string names;
    for (const auto& task : emit::tasks_of(made.input()))
        names += task.name + "\n";
    CHECK(names == R"(debian12-cu11.8.0-on-queue-a-b
debian12-cu11.8.0-on-queue-a-b-2
debian12-cu11.8.0-on-any
debian13-cu12.4.1-on-queue-a-b
debian13-cu12.4.1-on-queue-a-b-2
debian13-cu12.4.1-on-any
)");
}

TEST_CASE("what was typed goes to every command of a pipeline that takes it") {
    const EmitInput made(test::planned(kMatrix));
    auto input = made.input();
    input.typed = {{"--facts", "my facts", "--override", "driver=580"}, {"--templates", "mine"}};
    const std::string judging = " --facts 'my facts' --override driver=580", rendering = " --templates mine";
    CHECK(emit::command_on_matrix(input, "check") == "cudamatrix check matrix.yaml" + judging);
    CHECK(emit::command_on_matrix(input, "emit bake") ==
          "cudamatrix emit bake matrix.yaml" + judging + rendering);
    CHECK(emit::emit_line(input, "slurm") ==
          "cudamatrix emit slurm matrix.yaml --out ci" + judging + rendering);
    CHECK(emit::run_line(input, emit::tasks_of(input).front(), "out") ==
          "cudamatrix run matrix.yaml --only debian12-cu11.8.0 --locked --accept-static --out out" + judging +
              rendering);
    CHECK(emit::collect_line(input, "results", "junit") ==
          "cudamatrix collect matrix.yaml" + judging + rendering +
              " results --accept-static --format junit --out summary");
    CHECK(emit::check_lines(input, "slurm") ==
          std::vector<std::string>{
              "cudamatrix check matrix.yaml" + judging + " --against-lock",
              "cudamatrix emit slurm matrix.yaml --out ci" + judging + rendering + " --check"});
}

TEST_CASE("shards hold what --split or the system allows") {
    const EmitInput made(test::planned(kMachines));
    auto input = made.input();
    const auto sizes = [&](std::size_t most) {
        std::string out;
        for (const auto& shard : emit::in_shards(input, emit::tasks_of(input), most))
            out += fmt::format("{} ", shard.size());
        return out;
    };
    CHECK(sizes(256) == "6 ");
    CHECK(sizes(4) == "4 2 ");
    input.split = 2;
    CHECK(sizes(256) == "2 2 2 ");
    CHECK(sizes(1) == "1 1 1 1 1 1 ");
}

TEST_CASE("paths that no job could use are refused") {
    EmitInput made(test::planned(kMatrix));
    const std::string expected =
        ": expected a path of letters, digits, '.', '_', '-' and '+' below the current folder";
    for (const std::string path :
         {"/srv/matrix.yaml", "../matrix.yaml", "a/../m.yaml", "a//m.yaml", "-m.yaml", "m atrix.yaml",
          "m$(id).yaml", "m${{ github.token }}.yaml", "m'.yaml", "m\n.yaml"}) {
        made.made.matrix.path = path;
        CHECK(refused(made.input()) == "the matrix file is " + text::printable(path) + expected);
    }
    made.made.matrix.path = "ci/matrix.yaml";
    auto input = made.input();
    input.folder = "/tmp/x";
    CHECK(refused(input, "bake") == "--out is /tmp/x" + expected);
    input.folder = "ci";
    input.runs = "../out";
    CHECK(refused(input, "jenkins") == "the output folder of its runs is ../out" + expected);
}

TEST_CASE("a file that the system would not take is refused") {
    EmitInput made(test::planned(kMachines));
    const std::vector<Artifact> files{{"small.yml", "x", {}}, {"large.yml", std::string(2000, 'x'), {}}};
    CHECK(emit::check_size(files, 2000, "GitHub").ok());
    const auto status = emit::check_size(files, 1999, "GitHub");
    REQUIRE_FALSE(status.ok());
    CHECK(render(status.failure().diagnostics.front(), {}) ==
          "cudamatrix: error: large.yml has 2 kB, and GitHub takes 2 kB of a file\n"
          "  fix: split the matrix file, or give fewer tasks to a file with --split\n");
}

TEST_CASE("a child pipeline of GitLab that is too large for a file becomes several") {
    EmitInput made(test::planned(kMachines));
    auto input = made.input();
    // Each job names its cells: ids long enough that a few fill a file.
    for (auto& cell : input.cells)
        cell.id = std::string(60'000, 'a') + cell.id;
    const auto names = [&] {
        const auto files = emit::write_all(*emit::emitter_named("gitlab"), input);
        std::string out;
        for (const auto& file : files.ok() ? *files : std::vector<Artifact>{})
            out += file.path.string() + " ";
        return out;
    };
    CHECK(names() == "cudamatrix-test.yml cudamatrix-test-1.yml cudamatrix-test-2.yml ");
    input.split = 6;
    CHECK(names().empty());
}

TEST_CASE("two images that would be one target of bake are refused") {
    EmitInput made(test::planned(kMatrix));
    made.made.plan.images[0].id = "a.b";
    made.made.plan.images[1].id = "a_b";
    CHECK(refused(made.input(), "bake") == "two images would be the target a_b of bake");
}

TEST_CASE("a cluster needs a registry") {
    const EmitInput made(test::planned(kMatrix));
    CHECK(refused(made.input(), "kubernetes") ==
          "emit kubernetes starts images that a registry has, and emit: names none");
    CHECK(emit::write_all(*emit::emitter_named("slurm"), made.input()).ok());
    const EmitInput pyxis(test::planned(kMatrix + "emit: {slurm: {start: pyxis}}\n"));
    CHECK(refused(pyxis.input(), "slurm") ==
          "emit slurm starts images that a registry has, and emit: names none");
}

TEST_CASE("the name of an image in a cluster is made of what went into it") {
    EmitInput made(test::planned(kMachines));
    made.rendered[0].inputs = "0123456789abcdef0123";
    made.rendered[0].proof_inputs = "fedcba9876543210fedc";
    CHECK(emit::cluster_reference(made.input(), 0, false) ==
          "registry.example.org/team/cudamatrix/test:debian12-cu11.8.0-0123456789ab");
    CHECK(emit::cluster_reference(made.input(), 0, true) ==
          "registry.example.org/team/cudamatrix/test:debian12-cu11.8.0-fedcba987654-proof");
}

TEST_CASE("each way to start an image is hardened, and every cell of a task is tried") {
    struct Case {
        std::string start;
        std::vector<std::string> words;
    };
    for (const auto& each : std::vector<Case>{
             {"pyxis",
              {"srun --container-image=docker://registry.example.org/team/cudamatrix/test:",
               "--no-container-mount-home"}},
             {"apptainer",
              {"apptainer exec --containall --no-home --no-privs --nv docker://registry.example.org/"}},
             {"podman",
              {"podman run --rm --network none --read-only",
               "--cap-drop ALL --security-opt no-new-privileges", "--user 65532:65532",
               "--device nvidia.com/gpu=all", "--entrypoint /opt/cudamatrix/bin/suite"}}}) {
        CAPTURE(each.start);
        const EmitInput made(test::planned(
            kMatrix + "emit: {registry: registry.example.org/team, slurm: {start: " + each.start + "}}\n"));
        const auto files = emit::write_all(*emit::emitter_named("slurm"), made.input());
        REQUIRE(files.ok());
        REQUIRE(files->size() == 1);
        const auto& script = files->front().content;
        for (const auto& word : each.words)
            CHECK_MESSAGE(script.find(word) != std::string::npos, word);
        std::size_t lines = 0;
        for (const auto& line : text::split(script, '\n')) {
            if (!line.ends_with(" || code=$?")) continue;
            ++lines;
            CHECK(line.find(" run --cell drv580.65.06-") != std::string::npos);
        }
        CHECK(lines == 6);
        CHECK(script.ends_with("esac\nexit \"$code\"\n"));
    }
}

TEST_CASE("a part of the cells is named, one by one") {
    const EmitInput made(test::planned(kMatrix));
    auto input = made.input();
    input.is_part = true;
    input.cells.erase(input.cells.begin() + 1, input.cells.end());
    CHECK(shown(emit::tasks_of(input)) ==
          "debian12-cu11.8.0: image 0, cells [drv580.65.06-t4-cu11.8.0-debian], labels [], after []\n");
}

TEST_CASE("every emitter writes the same bytes twice, plain names, and one file to begin with") {
    const EmitInput made(test::planned(kMachines));
    for (const auto& emitter : emit::all_emitters()) {
        CAPTURE(emitter.name);
        const auto first = emit::write_all(emitter, made.input());
        const auto second = emit::write_all(emitter, made.input());
        REQUIRE(first.ok());
        REQUIRE(first->size() == second->size());
        for (std::size_t i = 0; i < first->size(); ++i) {
            CHECK((*first)[i].content == (*second)[i].content);
            CHECK((*first)[i].path.filename() == (*first)[i].path);
            CHECK((*first)[i].content.ends_with('\n'));
        }
        CHECK_FALSE(emitter.next.empty());
    }
    CHECK(emit::emitter_named("travis") == nullptr);
}
