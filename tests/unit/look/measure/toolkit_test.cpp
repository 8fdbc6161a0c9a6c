#include "look/measure/toolkit.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "fakes/http_server.hpp"
#include "look/measure/inspection.hpp"
#include "temp_folder.hpp"
#include "unit/registry/zip_fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;

namespace {

constexpr const char* kHelp =
    "Usage  : ptxas [options]\\n"
    "--gpu-name <gpu name>    (-arch)\\n"
    "        Allowed values for this option:  \\047compute_75\\047,\\047lto_75\\047,\\047sm_100\\047,\\n"
    "        \\047sm_100a\\047,\\047sm_100f\\047,\\047sm_75\\047,\\047sm_90a\\047.\\n"
    "        Default value:  \\047sm_75\\047.\\n"
    "--other\\n"
    "        Allowed values for this option:  \\047sm_35\\047.\\n";

const std::string kHeader =
    "#if defined(__GNUC__)\n#if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || "
    "(__clang_major__ > 22))\n"
    "#error -- unsupported Grace clang version! The version must be 16.x to 22.x.\n"
    "#if __GNUC__ > 16\n#error -- gcc versions later than 16 are not supported!\n#endif /* __GNUC__ > 16 */\n"
    "#if (__clang_major__ >= 22) || (__clang_major__ < 3)\n#if (__clang_major__ >= 23) || (__clang_major__ < "
    "3)\n";

// A program that stands in for ptxas: `help` is what --help prints, `newest` the PTX that it names, `takes`
// what it compiles.
std::string fake_ptxas(const std::string& help = kHelp, const std::string& newest = "8.7",
                       const std::string& takes = "8.7") {
    return "#!/bin/sh\nif [ \"$1\" = --help ]; then printf '" + help + "'; exit 0; fi\n" +
           "read -r word version < \"$2\"\n[ \"$version\" != " + takes +
           " ] || [ \"$1\" != -arch=sm_75 ] || exit 0\n" +
           "echo \"ptxas $2, line 1; fatal   : Unsupported .version $version; current version is '" + newest +
           "'\" >&2\nexit 255\n";
}

std::string compiler_wheel(const std::string& ptxas, bool nvcc = true) {
    std::vector<test::Entry> entries{{"nvidia/bin/ptxas", ptxas},
                                     {"nvidia/include/crt/host_config.h", kHeader},
                                     {"nvidia_cuda_nvcc-12.8.93.dist-info/METADATA", "Version: 12.8.93\n\n"}};
    if (nvcc) entries.insert(entries.begin(), {"nvidia/bin/nvcc", "x"});
    return test::make_zip(entries);
}

IndexFile toolkit_wheel(const std::string& name) {
    IndexFile file;
    file.name = name;
    file.sha256 = std::string(64, 'b');
    return file;
}

struct Asking {
    fakes::HttpServer server;
    test::TempFolder workshop;
    std::unique_ptr<Http> http;
    Task task;

    explicit Asking(const std::string& wheel, const std::string& behaviour = "plain") {
        server.put("w.whl", wheel);
        HttpOptions options;
        options.back_off = std::chrono::milliseconds(1);
        http = std::move(Http::open(options)).value();
        auto file = toolkit_wheel("nvidia_cuda_nvcc-12.8.93-py3-none-manylinux2014_x86_64.whl");
        file.url = server.url(behaviour + "/w.whl");
        file.sha256 = sha256(wheel);
        task = {"nvidia-cuda-nvcc", false, {"12.8.93", "", {file}, false, file}};
        task.compiler = true;
        task.workshop = workshop.path();
    }
    Inspection inspect() {
        auto inspected = InspectionCache::open(server.root() / "measured.jsonl");
        REQUIRE(inspected.ok());
        return inspect_wheels(*http, {task}, **inspected, 1, [](std::string_view) {}).front();
    }
    std::string failure() {
        const auto seen = inspect();
        CHECK_FALSE(std::filesystem::exists(server.root() / "measured.jsonl"));
        CHECK(workshop.entries() == 0);
        return seen.info.ok() ? "fine" : seen.info.failure().diagnostics.front().message;
    }
};

WheelInfo meta(const std::string& version, const std::vector<std::string>& demands) {
    WheelInfo info;
    info.file = "cuda_toolkit-" + version + "-py2.py3-none-any.whl";
    info.sha256 = std::string(64, 'c');
    info.metadata = {version, "", demands};
    return info;
}

ToolkitRelease release(const std::string& cuda) {
    const auto found = toolkit_release(meta(cuda, {"nvidia-cuda-nvcc==1.2.3"}));
    REQUIRE(found.ok());
    return *found;
}

WheelInfo compiler(const CompilerSays& says,
                   const std::string& file = "nvidia_cuda_nvcc-12.8.93-py3-none-any.whl") {
    WheelInfo info;
    info.file = file;
    info.sha256 = std::string(64, 'd');
    info.compiler = says;
    return info;
}

}  // namespace

TEST_CASE("the host compilers that a header takes: Linux's clang, not NVIDIA's own") {
    CHECK(host_limits(kHeader).gcc_max == "16");
    CHECK(host_limits(kHeader).clang_max == "22");
    for (const char* none :
         {"", "#if __GNUC__ < 3\n", "// __GNUC__ > 9\n", "#if __GNUC__ > x\n", "#if __GNUC__ >= 9\n"}) {
        CAPTURE(none);
        CHECK(host_limits(none).gcc_max.empty());
        CHECK(host_limits(none).clang_max.empty());
    }
}

TEST_CASE("targets are the SASS of --gpu-name, sorted, whatever else the help names") {
    const auto help = text::replace_all(text::replace_all(kHelp, "\\n", "\n"), "\\047", "'");
    CHECK(targets_in(help) == std::vector<std::string>{"7.5", "9.0a", "10.0", "10.0f", "10.0a"});
    for (const char* none :
         {"", "--gpu-name", "--gpu-name 'sm_' 'sm_x' 'sm_5' 'sm_75x' 'sm_075' 'compute_75'",
          "--other 'sm_75'"}) {
        CAPTURE(none);
        CHECK(targets_in(none).empty());
    }
}

TEST_CASE("a compiler is asked by ranges alone, and run only where it may be") {
    Asking asking(compiler_wheel("#!/bin/sh\nexit 1\n"));
    asking.task.workshop.reset();
    const auto seen = asking.inspect();
    REQUIRE(seen.info.ok());
    const auto& says = *seen.info->compiler;
    CHECK(says.has_header);
    CHECK(says.has_nvcc);
    CHECK(says.has_ptxas);
    CHECK(says.limits.gcc_max == "16");
    CHECK(says.targets.empty());
    CHECK(asking.workshop.entries() == 0);
    CHECK(asking.inspect().remembered);
    // What was read without running it is not enough for one who wants it run.
    asking.task.workshop = asking.workshop.path();
    CHECK_FALSE(asking.inspect().info.ok());
}

TEST_CASE("a ptxas that is run says its targets and the highest PTX, and leaves nothing") {
    Asking asking(compiler_wheel(fake_ptxas(), false));
    const auto seen = asking.inspect();
    REQUIRE_MESSAGE(seen.info.ok(), seen.info.failure().diagnostics.front().message);
    const auto& says = *seen.info->compiler;
    CHECK(says.targets == std::vector<std::string>{"7.5", "9.0a", "10.0", "10.0f", "10.0a"});
    CHECK(says.ptx_isa == "8.7");
    CHECK_FALSE(says.has_nvcc);
    CHECK(asking.workshop.entries() == 0);
    const auto again = asking.inspect();
    CHECK(again.remembered);
    CHECK(again.info->compiler->targets == says.targets);
    CHECK(again.info->compiler->ptx_isa == "8.7");
    CHECK(again.info->compiler->limits.clang_max == "22");
}

TEST_CASE("a line of the cache that is no compiler's is passed over") {
    auto json = to_json(compiler({true, {"16", "22"}, true, true, {"7.5"}, "8.7"}));
    REQUIRE(wheel_info_from(json));
    CHECK(wheel_info_from(json)->compiler->has_nvcc);
    for (const char* other : {"1", "[]", "{}", R"({"targets": [], "header": 1, "nvcc": true, "ptxas": true})",
                              R"({"targets": [1], "header": true, "nvcc": true, "ptxas": true})",
                              R"({"targets": [], "header": true, "nvcc": true})"}) {
        CAPTURE(other);
        json["compiler"] = Json::parse(other);
        CHECK_FALSE(wheel_info_from(json));
    }
}

TEST_CASE("a wheel that is not what the index lists is not run") {
    test::TempFolder elsewhere;
    const auto mark = (elsewhere.path() / "was-run").string();
    Asking asking(compiler_wheel("#!/bin/sh\ntouch " + mark + "\n"));
    const auto real = asking.task.release.chosen.sha256;
    asking.task.release.chosen.sha256 = std::string(64, '0');
    CHECK(asking.failure() == fmt::format("nvidia_cuda_nvcc-12.8.93-py3-none-manylinux2014_x86_64.whl has "
                                          "the sha256 {}, and the index says {}",
                                          real, std::string(64, '0')));
    CHECK(elsewhere.entries() == 0);
}

TEST_CASE("a ptxas that does not say what it is asked gives no row") {
    const std::string name =
        "nvidia_cuda_nvcc-12.8.93-py3-none-manylinux2014_x86_64.whl: its ptxas does not say ";
    CHECK(Asking(compiler_wheel("#!/bin/sh\nexit 3\n")).failure() ==
          name + "for which GPUs it compiles (exit code 3)");
    CHECK(Asking(compiler_wheel(fake_ptxas("no targets"))).failure() ==
          name + "for which GPUs it compiles (exit code 0)");
    CHECK(Asking(compiler_wheel(fake_ptxas(kHelp, "new")))
              .failure()
              .starts_with(name + "which PTX it takes (exit code 255: "));
    CHECK(Asking(compiler_wheel(fake_ptxas(kHelp, "8.8")))
              .failure()
              .starts_with(name + "yes to PTX 8.8, which it names itself (exit code 255: "));
    CHECK(Asking(compiler_wheel("no program")).failure() != "fine");
    for (const char* behaviour : {"tear", "short", "ignore-range", "status-404"}) {
        CAPTURE(behaviour);
        Asking asking(compiler_wheel(fake_ptxas()), behaviour);
        CHECK(asking.failure().starts_with(asking.server.url(behaviour + std::string("/w.whl: "))));
    }
}

TEST_CASE("a meta package names the release and its compiler") {
    const auto old = toolkit_release(meta("12.8.2.0", {"nvidia-cublas-cu12==12.8.4.1.*; extra == 'all'",
                                                       "nvidia-cuda-nvcc-cu12==12.8.93.*; extra == 'all'",
                                                       "nvidia-cuda-nvcc-cu12==9.9.9.*; extra == 'nvcc'"}));
    REQUIRE(old.ok());
    CHECK(old->cuda == "12.8.2");
    CHECK(old->minor == "12.8");
    CHECK(old->nvcc.package == "nvidia-cuda-nvcc-cu12");
    CHECK(old->nvcc.version == "12.8.93");
    CHECK_FALSE(old->headers);
    CHECK(yaml_line(release_row(*old)) ==
          "  - {id: cuda-12.8.2, cuda: \"12.8.2\", minor: \"12.8\", nvcc: \"12.8.93\", source: "
          "\"wheel:cuda_toolkit-12.8.2.0-py2.py3-none-any.whl sha256:" +
              std::string(64, 'c') + "\", confidence: measured}\n");
    const auto later =
        toolkit_release(meta("13.4.3", {"nvidia-cuda-crt==13.4.92.*", "Nvidia_CUDA.nvcc == 13.4.92"}));
    REQUIRE(later.ok());
    CHECK(later->headers->package == "nvidia-cuda-crt");
    CHECK(later->nvcc.version == "13.4.92");
    for (const auto& pair : {std::pair{"13.4", "nvidia-cuda-nvcc==1.2"},
                             {"", "nvidia-cuda-nvcc==1.2"},
                             {"13.4.3", "nvidia-cuda-nvcc>=1.2"},
                             {"13.4.3", "nvidia-cuda-nvcc"},
                             {"13.4.3", "nvidia-cuda-nvccx==1.2"},
                             {"13.4.3", "nvidia-cuda-nvcc==x"}}) {
        CAPTURE(pair.second);
        const auto none = toolkit_release(meta(pair.first, {pair.second}));
        REQUIRE_FALSE(none.ok());
        CHECK(none.failure().diagnostics.front().message ==
              fmt::format(
                  "cuda_toolkit-{}-py2.py3-none-any.whl: its METADATA names no release of CUDA with an nvcc",
                  pair.first));
    }
}

TEST_CASE("the newest release of each minor, and the wheel of a build for one processor") {
    std::vector<std::string> names;
    for (const auto& each :
         newest_of_minors({release("12.8.1"), release("12.10.0"), release("12.8.10"), release("12.8.2")}))
        names.push_back(each.cuda);
    CHECK(names == std::vector<std::string>{"12.8.10", "12.10.0"});
    const std::vector<IndexFile> files{
        toolkit_wheel("nvidia_cuda_nvcc-12.8.93-py3-none-win_amd64.whl"),
        toolkit_wheel("nvidia_cuda_nvcc-12.8.93-py3-none-manylinux2014_aarch64.whl"),
        toolkit_wheel("nvidia_cuda_nvcc-12.8.90-py3-none-manylinux2014_x86_64.whl"),
        toolkit_wheel("nvidia_cuda_nvcc-12.8.93-py3-none-manylinux2014_x86_64.whl")};
    const Component component{"nvidia-cuda-nvcc", "12.8.93"};
    CHECK(component_wheel(files, component, "x86_64")->name == files[3].name);
    CHECK(component_wheel(files, component, "aarch64")->name == files[1].name);
    CHECK_FALSE(component_wheel(files, {"nvidia-cuda-nvcc", "12.8.61"}, "x86_64"));
    CHECK_FALSE(component_wheel({}, component, "x86_64"));
}

TEST_CASE("the row of a minor: what was run, what headers say, what was known and is not measured") {
    const auto facts = Facts::embedded();
    CompilerSays says{true, {"16", "22"}, true, true, {"7.5", "9.0a"}, "8.7"};
    const auto fresh = toolkit_row(release("99.1.0"), compiler(says), nullptr, facts);
    REQUIRE(fresh.ok());
    CHECK(
        yaml_line(*fresh) ==
        "  - {id: cuda-toolkit-99.1, cuda: \"99.1\", newest: \"99.1.0\", ptx_isa: \"8.7\", targets: "
        "[\"7.5\", \"9.0a\"], gcc_max: 16, "
        "clang_max: 22, nvcc_wheel: true, source: \"wheel:nvidia_cuda_nvcc-12.8.93-py3-none-any.whl sha256:" +
            std::string(64, 'd') + "\", confidence: measured}\n");
    CompilerSays bare{false, {}, true, true, {}, ""};
    const auto none = toolkit_row(release("99.1.0"), compiler(bare), nullptr, facts);
    REQUIRE_FALSE(none.ok());
    CHECK(none.failure().diagnostics.front().message ==
          "CUDA 99.1: no fact knows its targets and PTX, and its ptxas was not run (--execute)");

    // A known minor: the headers' wheel is a source, and so is what its other columns rest on.
    const auto headers =
        compiler({true, {"14", "19"}, false, false, {}, ""}, "nvidia_cuda_crt-12.8.93-py3-none-any.whl");
    const auto known = toolkit_row(release("12.8.2"), compiler(bare), &headers, facts);
    REQUIRE(known.ok());
    CHECK(known->cell("gcc_max")->values == std::vector<std::string>{"14"});
    CHECK(known->cell("targets") == nullptr);
    const auto& sources = known->cell("source")->values;
    REQUIRE(sources.size() >= 3);
    CHECK(sources[1].starts_with("wheel:nvidia_cuda_crt-12.8.93"));
    CHECK(sources[2].starts_with("github:"));
    const auto compared = compare(*known, facts);
    CHECK(compared.contradicted == std::vector<std::string>{"nvcc_wheel"});
    CHECK(compared.row.cell("targets") != nullptr);  // known, not measured here: it stays
}
