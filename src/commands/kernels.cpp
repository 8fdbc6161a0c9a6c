#include <algorithm>

#include "base/text.hpp"
#include "commands/common.hpp"
#include "matrix/value.hpp"
#include "render/image/image_plan.hpp"
#include "report/formats.hpp"
#include "run/engine/engine.hpp"
#include "run/host/host.hpp"
#include "run/job/suite_folder.hpp"

namespace cudamatrix {
namespace {

struct KernelsOptions {
    std::vector<std::string> ids;
    std::string format;
    std::string out;
};

Result<ExitCode> perform(std::string_view name, const KernelsOptions& options, const World& world) {
    report::KernelsReport report{tool_info(Facts::embedded(), world.today),
                                 {world.colour_out, world.columns}};
    const auto& format = *report::format_named(report::kernels_formats(), options.format);
    CM_TRY(publish(report, name, options.format, options.out, [&](const report::KernelsReport& about) {
        return options.ids.empty() ? Result<std::string>(format.write(about))
                                   : format.write_some(about, options.ids);
    }));
    return ExitCode::success;
}

struct BuildOptions {
    std::string out;
    std::string nvcc;
    std::string cxx = "g++";
    std::vector<std::string> compute;
    std::string ptx;
    std::string suite;
    std::string format;
};

std::string what_is_no_compute(const std::string& value) {
    const auto version = Version::parse(value);
    if (version && version->suffix().empty() && version->major_minor() == value) return {};
    return fmt::format("invalid compute capability \"{}\": expected MAJOR.MINOR (9.0)",
                       text::printable(value));
}

Result<ExitCode> build(const BuildOptions& options, const World& world) {
    const auto& facts = Facts::embedded();
    CM_TRY_ASSIGN(const auto nvcc, engine::choose_nvcc(options.nvcc, world.environment, world.cancellation));
    job::SuiteFolder folder;
    folder.out = options.out;
    folder.nvcc = nvcc.program;
    folder.cxx = options.cxx;
    folder.compute = options.compute.empty()
                         ? portable_targets(facts, Version::parse(nvcc.version)->major_minor())
                         : options.compute;
    if (folder.compute.empty()) {
        return input_failure(fmt::format("no fact knows what nvcc {} compiles for", nvcc.version),
                             "name it: --compute 8.0,9.0");
    }
    std::ranges::sort(folder.compute, {}, [](const std::string& text) { return *Version::parse(text); });
    folder.ptx = options.ptx.empty() ? folder.compute.back() : options.ptx;
    folder.environment = world.environment;
    folder.cancellation = world.cancellation;
    CM_TRY_ASSIGN(const auto suite, job::suite_of(options.suite));
    if (!std::filesystem::exists(options.out))
        tell(fmt::format("building the suite with {}, for a minute or two\n", nvcc.why));
    CM_TRY_ASSIGN(auto made, job::make_suite_folder(folder, suite));
    const report::KernelsBuildReport report{tool_info(facts, world.today),
                                            options.out,
                                            nvcc.version,
                                            folder.compute,
                                            folder.ptx,
                                            machine_of(world).glibc,
                                            made.whole,
                                            std::move(made.summary),
                                            std::move(made.errors)};
    print(report::format_named(report::kernels_build_formats(), options.format)->write(report));
    return report.whole ? ExitCode::success : ExitCode::findings;
}

Arguments add_build_kernels(const Arguments& app, BuildOptions& options) {
    const auto command = app.add_subcommand(
        "build",
        "Compile the suite with this machine's nvcc, as a folder of programs to copy and run by hand");
    command.add_option("--out", options.out, "The folder to make").type_name("DIR").required();
    command.add_option("--nvcc", options.nvcc, "The nvcc to take (default: of PATH, else of /usr/local/cuda)")
        .type_name("PATH");
    command.add_option("--cxx", options.cxx, "Compiler of the host programs").type_name("CXX").show_default();
    command
        .add_option(
            "--compute", options.compute,
            "Compute capabilities to make SASS for (default: the lowest of each major that nvcc knows)")
        .type_name("X.Y,...")
        .delimiter(',')
        .check(what_is_no_compute);
    command.add_option("--ptx", options.ptx, "Compute capability of the PTX (default: the highest of those)")
        .type_name("X.Y")
        .check(what_is_no_compute);
    command
        .add_option("--suite", options.suite,
                    "Folder with kernels/ and fatbin/ that replaces the kernel suite of this program")
        .type_name("DIR");
    add_format(command, options.format, report::names_of(report::kernels_build_formats()));
    command.footer("Example: cudamatrix kernels build --out suite-13.0 --nvcc /usr/local/cuda-13.0/bin/nvcc");
    return command;
}

}  // namespace

Action add_kernels(const Arguments& app) {
    auto options = std::make_shared<KernelsOptions>();
    auto build_options = std::make_shared<BuildOptions>();
    app.require_subcommand();
    const auto list = app.add_subcommand("list", "List the tests with what each proves");
    list.footer("Example: cudamatrix kernels list --format json");
    const auto show = app.add_subcommand(
        "show", "Show tests: what each compares within which tolerance, and the faults that it names");
    show.add_option("ID", options->ids, "The id of a test, or a fault as reports name it: cmp.sgemm, F6")
        .required();
    show.footer("Example: cudamatrix kernels show cmp.sgemm F6");
    for (const auto& command : {list, show}) {
        add_format(command, options->format, report::names_of(report::kernels_formats()));
        add_report_folder(command, options->out);
    }
    const auto made = add_build_kernels(app, *build_options);
    return [options, build_options, list, made](const World& world) {
        if (made.parsed()) return build(*build_options, world);
        return perform(list.parsed() ? "kernels-list" : "kernels-show", *options, world);
    };
}

}  // namespace cudamatrix
