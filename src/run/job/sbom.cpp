// What an image holds, asked of the image itself, and what the lock pins of that.
#include "report/sbom.hpp"

#include <algorithm>
#include <chrono>

#include "base/file.hpp"
#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "render/files/dockerfile_model.hpp"
#include "run/engine/engine.hpp"
#include "run/job/clean.hpp"
#include "run/job/work.hpp"

namespace cudamatrix::job {
namespace {

using report::Component;

constexpr std::uint64_t kLargestList = 16U << 20;
constexpr std::size_t kLongestWord = 200;

// A program of the image that lists a kind of package: NAME TAB VERSION [TAB ARCHITECTURE], a line each.
struct Lister {
    std::string_view type;
    std::string entrypoint;
    std::vector<std::string> arguments;
};

constexpr std::string_view kListDistributions =
    "import importlib.metadata as m\n"
    "for d in m.distributions():\n"
    "    print(d.metadata['Name'], d.version, sep='\\t')\n";

std::vector<Lister> listers_of(const Image& image) {
    std::vector<Lister> out;
    if (image.package_manager == "dnf") {
        out.push_back(
            {"rpm", "rpm", {"-qa", "--qf", R"(%{NAME}\t%{EPOCHNUM}:%{VERSION}-%{RELEASE}\t%{ARCH}\n)"}});
    } else {
        out.push_back({"deb", "dpkg-query", {"-W", "-f", R"(${Package}\t${Version}\t${Architecture}\n)"}});
    }
    if (!image.python_from.empty())
        out.push_back({"pypi",
                       has_venv(image) ? "/opt/venv/bin/python" : "python3",
                       {"-I", "-c", std::string(kListDistributions)}});
    return out;
}

// Names, versions and architectures of all kinds: nothing that could end a line or a JSON string early.
bool is_package_word(std::string_view text) {
    return !text.empty() && text.size() <= kLongestWord && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._+~:!-").find(c) != std::string_view::npos;
    });
}

// "rockylinux9" -> "rocky", "9": as /etc/os-release calls it.
std::pair<std::string, std::string> distribution_of(std::string_view os) {
    const auto digit = std::min(os.find_first_of("0123456789"), os.size());
    auto name = os.substr(0, digit);
    constexpr std::string_view kLinux = "linux";
    if (name.ends_with(kLinux) && name.size() > kLinux.size()) name.remove_suffix(kLinux.size());
    return {std::string(name), std::string(os.substr(digit))};
}

class Holdings {
  public:
    Holdings(Job& job, std::size_t index, std::string id) : job_(job), image_(job.plan.images[index]) {
        const auto [name, version] = distribution_of(image_.os);
        vendor_ = name;
        sbom_.image = job.plan.rendering.images[index].reference;
        sbom_.digest = std::move(id);
        sbom_.distro = name + "-" + version;
    }

    Result<report::Sbom> read() {
        for (const auto& lister : listers_of(image_)) {
            CM_TRY(list(lister));
        }
        add_pins();
        add_base();
        for (const auto& copy : image_.copy)
            sbom_.components.push_back({.type = "file", .name = copy.to});
        if (image_.python_from == "standalone")
            sbom_.components.push_back({.type = "generic",
                                        .name = "cpython",
                                        .version = image_.python_release,
                                        .arch = image_.arch});
        put_in_order(sbom_);
        return std::move(sbom_);
    }

    [[nodiscard]] std::vector<std::string> problems() && { return std::move(problems_); }

  private:
    Status list(const Lister& lister) {
        engine::RunRequest request;
        request.image = sbom_.digest;
        request.name =
            engine::container_name(job_.settings.run_id, fmt::format("sbom-{}-{}", lister.type, image_.id));
        request.run_id = job_.settings.run_id;
        request.folder = folder_mark(job_.settings.out);
        request.entrypoint = lister.entrypoint;
        request.arguments = lister.arguments;
        request.environment = {{"LC_ALL", "C"}, {"HOME", "/tmp"}};
        engine::RunLimits limits;
        limits.time = std::chrono::minutes(2);
        limits.output = kLargestList;
        CM_TRY_ASSIGN(const auto outcome,
                      engine::run_container(job_.engine, request, limits, job_.settings.cancellation));
        if (outcome.how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
        if (!outcome.success()) {
            return Failure{ExitCode::findings,
                           {Diagnostic::error(fmt::format("{}: {} does not tell what it holds: {}", image_.id,
                                                          lister.entrypoint, engine::reason_of(outcome)))}};
        }
        return read_list(lister, outcome.out);
    }

    Status read_list(const Lister& lister, std::string_view answer) {
        for (const auto& line : text::split(answer, '\n')) {
            if (line.empty()) continue;
            auto words = text::split(line, '\t');
            const bool fits =
                (words.size() == 2 || words.size() == 3) && std::ranges::all_of(words, is_package_word);
            if (!fits) {
                return Failure{ExitCode::findings,
                               {Diagnostic::error(fmt::format(
                                   "{}: {} says \"{}\": expected a name, a version and an architecture",
                                   image_.id, lister.entrypoint, text::printable(line.substr(0, 100))))}};
            }
            Component one{.type = std::string(lister.type), .name = words[0], .version = words[1]};
            if (lister.type == "pypi")
                one.name = pep440::canonical_name(one.name);
            else
                one.vendor = vendor_;
            if (words.size() == 3) one.arch = words[2];
            // Keys of rpm's own database are listed as packages.
            if (one.name != "gpg-pubkey") sbom_.components.push_back(std::move(one));
        }
        return Done{};
    }

    // What was installed by hash has that hash; a pin that the image does not hold is a problem.
    void add_pins() {
        const auto* pins = job_.plan.lock.pins(image_);
        if (pins == nullptr) return;
        for (const auto& pin : pins->runtime)
            must_hold(image_.package_manager == "dnf" ? "rpm" : "deb", pin.package, pin.version);
        for (const auto& wheel : pins->wheels) {
            auto* held = must_hold("pypi", wheel.name, wheel.version);
            if (held == nullptr) continue;
            held->sha256 = wheel.sha256;
            held->url = wheel.url;
        }
        // Wheels of a toolkit are files of theirs by then, which no list of the image names: all of them, or
        // what programs run on.
        if (image_.cuda_from == "wheels" && !image_.cuda.empty()) {
            for (const auto& wheel : pins->cuda) {
                if (!is_kept(wheel.name)) continue;
                sbom_.components.push_back({.type = "pypi",
                                            .name = wheel.name,
                                            .version = wheel.version,
                                            .sha256 = wheel.sha256,
                                            .url = wheel.url});
            }
        }
    }

    // Whether files of that wheel of the toolkit are in the image.
    [[nodiscard]] bool is_kept(const std::string& wheel) const {
        const auto asks = [&](const std::string& request) { return name_of_request(request) == wheel; };
        return image_.flavour == "devel" || wheel.find("cuda-runtime") != std::string::npos ||
               std::ranges::any_of(image_.cuda_libraries, asks);
    }

    Component* must_hold(std::string_view type, const std::string& name, const std::string& version) {
        Component* other = nullptr;
        for (auto& one : sbom_.components) {
            if (one.type != type || one.name != name) continue;
            const bool same = one.version == version || one.version == "0:" + version;
            if (same) return &one;
            other = &one;
        }
        problems_.push_back(
            other == nullptr
                ? fmt::format("the lock pins {} {}, and the image does not hold it", name, version)
                : fmt::format("the lock pins {} {}, and the image holds {}", name, version, other->version));
        return nullptr;
    }

    void add_base() {
        if (image_.base_reference.empty()) return;
        const auto* pinned = job_.plan.lock.registry_base(image_.base_reference);
        const auto repository = image_.base_reference.substr(0, image_.base_reference.rfind(':'));
        sbom_.components.push_back({.type = "oci",
                                    .name = repository.substr(repository.rfind('/') + 1),
                                    .version = pinned == nullptr ? "" : pinned->digest,
                                    .arch = image_.platform().substr(image_.platform().rfind('/') + 1),
                                    .repository = repository});
    }

    Job& job_;
    const Image& image_;
    std::string vendor_;
    report::Sbom sbom_;
    std::vector<std::string> problems_;
};

}  // namespace

Result<report::SbomReport> write_sboms(Job& job, std::string_view created) {
    report::SbomReport out;
    const auto& plan = job.plan.report;
    out.tool = {plan.version, plan.facts_date, plan.facts_hash};
    for (std::size_t i = 0; i < job.plan.images.size(); ++i) {
        const auto& image = job.plan.images[i];
        if (!job.plan.is_chosen(image)) continue;
        auto& told = out.images.emplace_back();
        told.id = image.id;
        const auto& rendered = job.plan.rendering.images[i];
        CM_TRY_ASSIGN(auto held, held_by_engine(job, rendered.reference, rendered.inputs));
        if (!held.is_current) {
            told.problems.push_back(fmt::format("it is {}: cudamatrix build makes it",
                                                held.info.id.empty() ? "not built" : "of other inputs"));
            continue;
        }
        Holdings holdings(job, i, std::move(held.info.id));
        auto read = holdings.read();
        if (!read.ok() && read.failure().code != ExitCode::findings) return read.failure();
        if (!read.ok()) {
            told.problems.push_back(read.failure().diagnostics.front().message);
            continue;
        }
        read->created = created;
        read->tool = plan.version;
        told.components = read->components.size();
        told.problems = std::move(holdings).problems();
        const auto folder = std::filesystem::path("sbom");
        for (const auto& [ending, text] : {std::pair{".spdx.json", report::spdx_json(*read)},
                                           std::pair{".cdx.json", report::cyclonedx_json(*read)}}) {
            const auto path = folder / (image.id + ending);
            CM_TRY(file::make_directories(job.settings.out / folder));
            CM_TRY(file::write(job.settings.out / path, text));
            told.files.push_back(path.generic_string());
        }
    }
    return out;
}

}  // namespace cudamatrix::job
