#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "advise/audit/parts.hpp"
#include "advise/sources/text.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/resolve/packages.hpp"
#include "look/measure/demand.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::audit {
namespace {

using sources::CondaInstall, sources::CopyFrom, sources::CopyIn, sources::Index, sources::IndexKind,
    sources::PipInstall, sources::Requirement, sources::Step, sources::Word;
using sources::file_name;

constexpr int kMostStagesCopied = 4;
constexpr std::size_t kMostFilesInFiles = 16;

// COPY --from=builder of these brings what pip installed there.
bool is_environment(std::string path) {
    static constexpr std::array<std::string_view, 8> kNames{"venv",  ".venv",      "env",    "site-packages",
                                                            "conda", "miniconda3", ".local", "dist-packages"};
    while (path.ends_with("/"))
        path.pop_back();
    return path == "/usr/local" || std::ranges::find(kNames, file_name(path)) != kNames.end();
}

class Fold {
  public:
    Fold(const FoldContext& context, Holds& out) : context_(context), facts_(context.facts), out_(out) {}

    void run(std::size_t stage) {
        const auto& stages = context_.source.stages;
        std::vector<std::size_t> line{stage};
        while (stages[line.back()].on)
            line.push_back(*stages[line.back()].on);
        std::ranges::reverse(line);
        begin(stages[line.front()]);
        for (const auto index : line) {
            if (!stages[index].arch.empty()) held_.arch = stages[index].arch;
            take_all(stages[index].steps);
        }
        if (context_.more != nullptr) take_all(*context_.more);
        if (held_.torch && !held_.torch->python.text.empty()) {
            held_.python = held_.torch->python;
        } else if (held_.python.text.empty()) {
            held_.python = pythons_.of_image();
        }
    }

    void finish() {
        make_cell(held_, context_, out_);
        if (!held_.torch || !plain_pip_ || !start_) return;
        const auto started = pythons_.started_by(*start_);
        if (started.text.empty() || started.text == plain_pip_->text) return;
        out_.findings.push_back(
            found("pip-of-other-python", plain_pip_->where,
                  fmt::format("pip installs torch for python {}, and the image starts python {}",
                              plain_pip_->text, started.text),
                  fmt::format("python{} -m pip install", started.text)));
    }

  private:
    void begin(const sources::Stage& stage) {
        for (const auto& [field, value] : context_.options.machine) {
            if (field != Field::arch) continue;
            held_.arch = value.text;
            held_.arch_is_written = true;
        }
        if (!stage.base.text.empty() && !stage.base.is_open()) {
            held_.image = stage.base;
            held_.base = base_image(stage.base.text, facts_);
        }
        if (held_.base.jetson) held_.arch = "aarch64";
        const auto os = held_.base.os.empty() ? std::nullopt : lookup::os(facts_, held_.base.os);
        pythons_.begin(held_.base, os && os->has("python") ? std::string(os->text("python")) : std::string(),
                       stage.base.where);
    }

    void take_all(const std::vector<Step>& steps) {
        for (const auto& step : steps)
            std::visit([this](const auto& one) { take(one); }, step);
    }

    void take(const sources::Variable& variable) {
        held_.variables[variable.name] = variable.value;
        if (variable.name == "UV_PYTHON") pythons_.take_uv(variable.value);
    }

    void take(const sources::PythonChoice& choice) { pythons_.take(choice); }
    void take(const sources::CopyIn& copy) { copied_.push_back(copy); }
    void take(const sources::Start& start) { start_ = start; }

    void take(const sources::Unmanaged&) { is_managed_ = false; }

    void take(const sources::SystemInstall& install) {
        for (const auto& package : install.packages) {
            const auto equals = package.text.find('=');
            const auto name = package.text.substr(0, equals);
            const auto version =
                equals == std::string::npos ? std::string() : package.text.substr(equals + 1);
            pythons_.take_package(name, package.where);
            take_toolkit(name, package);
            take_compiler(name, package.where);
            if (name.starts_with("libcudnn") && !version.empty() && text::is_digit(version[0]))
                held_.cudnn = Chosen{version.substr(0, version.find('-')), package.where};
            if (name.starts_with("cuda-compat-"))
                held_.compat = Chosen{text::replace_all(name.substr(12), "-", "."), package.where};
        }
    }

    void take_compiler(const std::string& name, const Location& where) {
        const auto dash = name.find('-');
        const bool numbered = (name.starts_with("gcc-") || name.starts_with("g++-")) &&
                              dash + 1 < name.size() &&
                              std::ranges::all_of(std::string_view(name).substr(dash + 1), text::is_digit);
        if (numbered) {
            held_.compiler = Chosen{"gcc-" + name.substr(dash + 1), where};
            held_.compiler_is_named = true;
        }
        const bool of_system =
            name == "build-essential" || name == "gcc" || name == "g++" || name == "gcc-c++";
        const auto os = of_system && !held_.compiler ? lookup::os(facts_, held_.base.os) : std::nullopt;
        if (os && os->has("gcc")) held_.compiler = Chosen{fmt::format("gcc-{}", os->text("gcc")), where};
    }

    // cuda-toolkit-12-3, cuda-12-3, cuda-nvcc-12-3: which toolkit is there.
    void take_toolkit(const std::string& name, const Word& package) {
        for (const std::string_view prefix : {"cuda-toolkit-", "cuda-nvcc-", "cuda-compiler-", "cuda-"}) {
            if (!name.starts_with(prefix)) continue;
            const auto number = name.substr(prefix.size());
            const auto dash = number.find('-');
            const bool plain =
                dash != std::string::npos && dash != 0 &&
                std::ranges::all_of(number, [](char c) { return c == '-' || text::is_digit(c); });
            if (plain) held_.toolkit = Chosen{text::replace_all(number, "-", "."), package.where};
            return;
        }
    }

    void take(const sources::Gencode& gencode) {
        for (const auto& entry : gencode.entries) {
            if (std::ranges::find(held_.gencode, entry) == held_.gencode.end())
                held_.gencode.push_back(entry);
        }
        if (held_.gencode_where.line == 0) held_.gencode_where = gencode.where;
    }

    void take(const sources::PipUninstall& uninstall) {
        for (const auto& name : uninstall.names) {
            held_.packages.erase(name);
            if (name == "torch") held_.torch.reset();
        }
    }

    void take(const CopyFrom& copy) {
        const auto from = stage_named(context_.source, copy.stage, context_.source.stages.size());
        if (!from || !std::ranges::any_of(copy.paths, is_environment) || depth_ == kMostStagesCopied) return;
        Holds unused;
        Fold other(context_, unused);
        other.depth_ = depth_ + 1;
        other.run(*from);
        ++installs_;
        if (other.held_.torch) held_.torch = other.held_.torch;
        for (const auto& [name, package] : other.held_.packages)
            held_.packages[name] = package;
        for (const auto& [name, install] : other.held_.installs)
            held_.installs[name] = installs_;
        if (!other.held_.python.text.empty()) held_.python = other.held_.python;
    }

    void take(const sources::Redirected& redirected) {
        const auto meant = text::printable(redirected.requirement.text + redirected.rest);
        out_.findings.push_back(
            found("unquoted-requirement", redirected.requirement.where,
                  fmt::format("the shell takes {} for a file: pip sees {} without a version",
                              text::printable(redirected.rest), text::printable(redirected.requirement.text)),
                  fmt::format("write \"{}\"", meant)));
    }

    void take(const CondaInstall& install) {
        ++installs_;
        for (const auto& spec : install.specs) {
            const auto version = spec.version.starts_with("=") ? exact_version(spec.version) : spec.version;
            const bool exact = !version.empty() && text::is_digit(version[0]) &&
                               version.find_first_of("<>,|") == std::string::npos && !is_open(version);
            if (spec.name == "python" && exact) pythons_.take_conda({python_minor(version), spec.where});
        }
        take_outcome(torch_of_conda(install, pythons_.conda(), held_.arch, facts_),
                     install.specs.empty() ? install.where : where_of_torch(install), "pytorch");
    }

    static Location where_of_torch(const CondaInstall& install) {
        const auto found = std::ranges::find(install.specs, "pytorch", &CondaInstall::Spec::name);
        return found == install.specs.end() ? install.where : found->where;
    }

    void take_outcome(TorchOutcome outcome, const Location& where, std::string_view name) {
        if (!outcome.skipped.empty()) {
            held_.torch.reset();
            is_unread_ = true;
            out_.skipped.push_back({where, std::string(name), std::move(outcome.skipped)});
        }
        if (outcome.torch) {
            held_.torch = std::move(outcome.torch);
            held_.installs["torch"] = installs_;
        }
        if (!outcome.note.empty()) out_.notes.push_back(std::move(outcome.note));
        for (auto& finding : outcome.findings)
            out_.findings.push_back(std::move(finding));
    }

    void take(const PipInstall& written) {
        ++installs_;
        const auto install = with_files(written);
        find_wrong_indexes(indexes_of(install), out_.findings);
        if (install.locked) {  // the environment becomes what the lock says
            held_.torch.reset();
            held_.packages.clear();
            is_unread_ = true;
        }
        const auto python = pythons_.of(install);
        const Requirement* torch = nullptr;
        Pins pins;
        for (const auto& requirement : install.requirements) {
            if (!applies(requirement, python.text)) continue;
            if (requirement.name != "torch") {
                pins[requirement.name] = &requirement;
            } else if (torch == nullptr || exact_version(torch->specifier).find('+') == std::string::npos) {
                torch = &requirement;
            }
        }
        if (pythons_.writes_into_system(install) && is_managed_ && !breaks_system() &&
            !install.requirements.empty())
            held_.into_system = true;
        if (torch != nullptr && !is_met(*torch, install)) {
            take_outcome(torch_of({install, *torch, indexes_of(install), python, held_.arch,
                                   context_.options.today, held_.base, pythons_.is_open_conda() || is_unread_,
                                   pins, held_.torch, compares_indexes(install)},
                                  facts_),
                         torch->where, "torch");
            if (pythons_.is_plain(install) && !python.text.empty())
                plain_pip_ = Chosen{python.text, install.where};
        }
        for (const auto& [name, requirement] : pins)
            take_package(name, *requirement);
        if (held_.python.text.empty()) held_.python = python;
    }

    // What the option --break-system-packages says for one install.
    [[nodiscard]] bool breaks_system() const {
        const auto said = held_.variables.find("PIP_BREAK_SYSTEM_PACKAGES");
        return said != held_.variables.end() && said->second.text != "0" && said->second.text != "false";
    }

    // pip leaves what is there and fits; which one an image holds itself is not always known.
    [[nodiscard]] bool is_met(const Requirement& requirement, const PipInstall& install) const {
        if (install.upgrades || !requirement.url.empty() || !exact_version(requirement.specifier).empty())
            return false;
        const auto specifiers =
            pep440::Specifiers::parse(requirement.specifier.empty() ? ">=0" : requirement.specifier);
        if (!specifiers) return false;
        if (!held_.torch) return held_.base.own_torch;
        const auto version = pep440::Version::parse(held_.torch->text);
        return version && specifiers->admits(version->without_local());
    }

    // Options come first, then variables.
    [[nodiscard]] std::vector<Index> indexes_of(const PipInstall& install) const {
        auto out = install.indexes;
        const auto add = [&](const char* name, IndexKind kind, std::string_view prefix = {}) {
            const auto found = held_.variables.find(name);
            if (found == held_.variables.end()) return;
            for (const auto& url : text::split(found->second.text, ' ')) {
                if (!url.empty()) out.push_back({kind, std::string(prefix) + url, found->second.where});
            }
        };
        if (install.tool == "uv") {
            add("UV_INDEX_URL", IndexKind::index);
            add("UV_DEFAULT_INDEX", IndexKind::index);
            add("UV_EXTRA_INDEX_URL", IndexKind::extra);
            add("UV_INDEX", IndexKind::extra);
            add("UV_FIND_LINKS", IndexKind::find_links);
            add("UV_TORCH_BACKEND", IndexKind::index, "torch-backend:");
        } else if (install.tool == "pip") {
            add("PIP_INDEX_URL", IndexKind::index);
            add("PIP_EXTRA_INDEX_URL", IndexKind::extra);
            add("PIP_FIND_LINKS", IndexKind::find_links);
        }
        return out;
    }

    // uv takes the first index that has the project, unless it is told otherwise
    // (https://docs.astral.sh/uv/concepts/indexes/).
    [[nodiscard]] bool compares_indexes(const PipInstall& install) const {
        if (install.tool != "uv") return install.tool == "pip";
        constexpr std::string_view kBest = "unsafe-best-match";
        if (!install.index_strategy.empty()) return install.index_strategy == kBest;
        const auto variable = held_.variables.find("UV_INDEX_STRATEGY");
        return variable != held_.variables.end() && variable->second.text == kBest;
    }

    [[nodiscard]] bool applies(const Requirement& requirement, const std::string& python) const {
        if (requirement.marker.empty()) return true;
        const auto marker = measure::Marker::parse(requirement.marker);
        if (!marker) return true;
        if (!python.empty()) return marker->holds(python, held_.arch).value_or(true);
        // Of no python: what holds for none of them does not hold.
        static constexpr std::array<std::string_view, 3> kPythons{"3.8", "3.11", "3.14"};
        return std::ranges::any_of(kPythons,
                                   [&](auto one) { return marker->holds(one, held_.arch).value_or(true); });
    }

    void take_package(const std::string& name, const Requirement& requirement) {
        const auto exact = exact_version(requirement.specifier);
        if (is_open(exact))
            out_.skipped.push_back({requirement.where, name, "its version is known in the build only"});
        if (exact.empty() || is_open(exact) || !requirement.url.empty()) return;
        auto version = exact.substr(0, exact.find('+'));
        if (!context_.options.all_packages && !rules::knows_package(facts_, name)) {
            ++held_.packages_without_facts;
            return;
        }
        if (check_member(Field::packages, name, version)) return;
        held_.packages[name] = {std::move(version), requirement.where};
        held_.installs[name] = installs_;
    }

    // ---- files that an install names

    // The install with what its files add; conda's files and locks are installs of their own.
    [[nodiscard]] PipInstall with_files(const PipInstall& written) {
        auto out = written;
        out.files.clear();
        for (const auto& file : written.files)
            follow(file, out);
        return out;
    }

    void follow(const Word& file, PipInstall& into) {
        if (file.is_open()) {
            is_unread_ = true;
            out_.skipped.push_back(
                {file.where, "a file of requirements", "its name is known in the build only"});
            return;
        }
        std::vector<std::string> candidates;
        for (const auto& copy : copied_) {
            for (const auto& from : copy.from) {
                if (is_open(from)) continue;
                if (file_name(from) == file_name(file.text)) candidates.push_back(from);
                candidates.push_back(fmt::format("{}/{}", from, file_name(file.text)));
            }
        }
        candidates.push_back(file.text);
        candidates.emplace_back(file_name(file.text));
        // The context is the folder of the Dockerfile, or one above it; of files that files name, their own
        // folder.
        const auto source = std::filesystem::path(file.where.file);
        std::filesystem::path folder(file.where.file == context_.source.path
                                         ? context_.folder
                                         : source.parent_path().generic_string());
        const int levels = context_.source.kind == sources::Kind::dockerfile ? 3 : 1;
        for (int up = 0; up < levels; ++up, folder /= "..") {
            for (const auto& candidate : candidates) {
                if (take_file((folder / std::filesystem::path(candidate).relative_path()).lexically_normal(),
                              into))
                    return;
            }
        }
        is_unread_ = true;
        out_.skipped.push_back({file.where, file.text, "the file is not here"});
    }

    bool take_file(const std::filesystem::path& path, PipInstall& into) {
        const auto shown = path.generic_string();
        if (reading_.contains(shown) || reading_.size() == kMostFilesInFiles) return true;
        const auto text = context_.read(path);
        if (!text) return false;
        auto source = sources::read(sources::kind_of(shown, *text).value_or(sources::Kind::requirements),
                                    shown, *text, {});
        context_.followed.insert(shown);
        reading_.insert(shown);
        for (auto& stage : source.stages) {
            auto* pip = stage.steps.size() == 1 ? std::get_if<PipInstall>(&stage.steps[0]) : nullptr;
            if (pip == nullptr || pip->locked) {
                take_all(stage.steps);
                continue;
            }
            into.requirements.insert(into.requirements.end(), pip->requirements.begin(),
                                     pip->requirements.end());
            into.indexes.insert(into.indexes.end(), pip->indexes.begin(), pip->indexes.end());
            for (const auto& file : pip->files)
                follow(file, into);
        }
        out_.skipped.insert(out_.skipped.end(), source.skipped.begin(), source.skipped.end());
        reading_.erase(shown);
        const auto known = std::ranges::find(context_.files, shown, &sources::Source::path);
        if (known == context_.files.end()) context_.files.push_back(std::move(source));
        return true;
    }

    const FoldContext& context_;
    const Facts& facts_;
    Holds& out_;
    Held held_;
    Pythons pythons_;
    std::optional<Chosen> plain_pip_;  // what a plain pip installed torch for
    std::vector<CopyIn> copied_;
    std::optional<sources::Start> start_;
    std::set<std::string> reading_;
    std::size_t installs_ = 0;
    bool is_managed_ = true;
    bool is_unread_ = false;  // an install before may have brought a torch that nobody saw
    int depth_ = 0;
};

}  // namespace

Holds fold(const FoldContext& context, std::size_t stage) {
    Holds out;
    Fold one(context, out);
    one.run(stage);
    one.finish();
    return out;
}

}  // namespace cudamatrix::audit
