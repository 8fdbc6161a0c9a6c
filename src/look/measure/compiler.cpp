#include "look/measure/wheel_info.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "fatbin/arch.hpp"
#include "look/scan/wheel.hpp"
#include "registry/http.hpp"
#include "registry/zip.hpp"

namespace cudamatrix::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestHeader = 1u << 20;
constexpr std::uint64_t kLargestProgram = 1u << 30;
constexpr std::chrono::seconds kTimeLimit{60};

const ZipMember* member_at(const Zip& zip, std::string_view ending) {
    const auto members = zip.members();
    const auto found = std::ranges::find_if(members, [&](const ZipMember& member) {
        return member.name.ends_with(ending) && !member.is_folder();
    });
    return found == members.end() ? nullptr : &*found;
}

// The number behind `words` in a line.
std::optional<unsigned> number_behind(std::string_view line, std::string_view words) {
    const auto at = line.find(words);
    if (at == std::string_view::npos) return std::nullopt;
    const auto rest = text::trim(line.substr(at + words.size()));
    const auto version = Version::parse(rest.substr(0, rest.find_first_not_of("0123456789")));
    return version ? std::optional(version->major()) : std::nullopt;
}

// "sm_90a".
std::optional<fatbin::Arch> arch_of(std::string_view name) {
    auto digits = name.substr(std::string_view("sm_").size());
    auto variant = fatbin::Variant::base;
    if (digits.ends_with('a')) variant = fatbin::Variant::specific;
    if (digits.ends_with('f')) variant = fatbin::Variant::family;
    if (variant != fatbin::Variant::base) digits.remove_suffix(1);
    const auto number = number_behind(digits, {});
    if (!number || digits.size() < 2 || std::to_string(*number) != digits) return std::nullopt;
    return fatbin::arch_from_number(*number, variant);
}

// A program of a wheel in a folder of its own, which goes away with it.
class Workpiece {
  public:
    Workpiece(const fs::path& workshop, const IndexFile& file)
        : folder_(workshop / file.sha256.substr(0, 16)) {}
    ~Workpiece() {
        std::error_code error;
        fs::remove_all(folder_, error);
    }
    Workpiece(const Workpiece&) = delete;
    Workpiece& operator=(const Workpiece&) = delete;

    Status write(const Zip& zip, const ZipMember& member) {
        if (member.size > kLargestProgram)
            return input_failure(fmt::format("{}: its ptxas is too large", text::printable(zip.label())));
        std::error_code error;
        fs::remove_all(folder_, error);
        CM_TRY(file::make_directories(folder_));
        fs::permissions(folder_, fs::perms::owner_all, error);
        CM_TRY(file::create(program(), {}));
        CM_TRY(zip.stream(member, [&](std::span<const std::uint8_t> bytes) {
            return file::append(program(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        }));
        fs::permissions(program(), fs::perms::owner_read | fs::perms::owner_exec, error);
        if (error)
            return environment_failure(
                fmt::format("cannot write {}: {}", text::printable(program().string()), error.message()));
        return Done{};
    }

    Result<Outcome> run(const std::vector<std::string>& arguments, const Cancellation* cancellation) const {
        Command command;
        command.argv = {fs::absolute(program()).string()};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder_.string();
        command.time_limit = kTimeLimit;
        return cudamatrix::run(command, cancellation);
    }

    Status put(const std::string& name, const std::string& content) const {
        CM_TRY(file::write(folder_ / name, content));
        return Done{};
    }

  private:
    [[nodiscard]] fs::path program() const { return folder_ / "ptxas"; }
    fs::path folder_;
};

Failure does_not_say(const IndexFile& file, std::string_view what, const Outcome& outcome) {
    return input_failure(fmt::format(
        "{}: its ptxas does not say {} ({}{})", text::printable(file.name), what, outcome.describe(),
        outcome.err.empty() ? "" : ": " + text::printable(outcome.err.substr(0, 200))));
}

std::string ptx(const std::string& isa, const std::string& target) {
    return fmt::format(".version {}\n.target {}\n.address_size 64\n.visible .entry k() {{ ret; }}\n", isa,
                       target);
}

// Which PTX is too new it says itself; what it then names has to compile.
Result<std::string> highest_isa(const Workpiece& workpiece, const IndexFile& file, const std::string& target,
                                const Cancellation* cancellation) {
    constexpr std::string_view names = "current version is '";
    CM_TRY(workpiece.put("newer.ptx", ptx("99.9", target)));
    CM_TRY_ASSIGN(const auto refused,
                  workpiece.run({"-arch=" + target, "newer.ptx", "-o", "newer.cubin"}, cancellation));
    const auto at = refused.err.find(names);
    const auto from = at == std::string::npos ? std::string() : refused.err.substr(at + names.size());
    const auto isa = from.substr(0, from.find('\''));
    if (refused.success() || !fatbin::parse_ptx_isa(isa))
        return does_not_say(file, "which PTX it takes", refused);
    CM_TRY(workpiece.put("newest.ptx", ptx(isa, target)));
    CM_TRY_ASSIGN(const auto taken,
                  workpiece.run({"-arch=" + target, "newest.ptx", "-o", "newest.cubin"}, cancellation));
    if (!taken.success())
        return does_not_say(file, fmt::format("yes to PTX {}, which it names itself", isa), taken);
    return isa;
}

Status run_ptxas(const Workpiece& workpiece, const IndexFile& file, const Cancellation* cancellation,
                 CompilerSays& says) {
    CM_TRY_ASSIGN(const auto help, workpiece.run({"--help"}, cancellation));
    says.targets = targets_in(help.out);
    if (!help.success() || says.targets.empty())
        return does_not_say(file, "for which GPUs it compiles", help);
    const auto first = fatbin::parse_arch(says.targets.front());
    CM_TRY_ASSIGN(says.ptx_isa,
                  highest_isa(workpiece, file, "sm_" + fatbin::sm_number(*first), cancellation));
    return Done{};
}

Status read_header(const Zip& zip, CompilerSays& says) {
    const auto* header = member_at(zip, "/crt/host_config.h");
    if (header == nullptr) return Done{};
    CM_TRY_ASSIGN(const auto content, zip.text(*header, kLargestHeader));
    says.has_header = true;
    says.limits = host_limits(content);
    return Done{};
}

}  // namespace

HostLimits host_limits(std::string_view header) {
    HostLimits out;
    for (const auto& line : text::split(header, '\n')) {
        if (!line.starts_with("#if")) continue;
        if (const auto gcc = number_behind(line, "__GNUC__ >");
            gcc && line.find("__GNUC__ >=") == std::string::npos)
            out.gcc_max = std::to_string(*gcc);
        if (const auto clang = number_behind(line, "__clang_major__ >="); clang && *clang > 0)
            out.clang_max = std::to_string(*clang - 1);
    }
    return out;
}

std::vector<std::string> targets_in(std::string_view help) {
    const auto from = help.find("--gpu-name");
    if (from == std::string_view::npos) return {};
    const auto section = help.substr(from, help.find("\n--", from) - from);
    std::set<fatbin::Arch> archs;
    constexpr std::string_view quoted = "'sm_";
    for (auto at = section.find(quoted); at != std::string_view::npos; at = section.find(quoted, at + 1)) {
        const auto name = section.substr(at + 1, section.find('\'', at + 1) - at - 1);
        if (const auto arch = arch_of(name)) archs.insert(*arch);
    }
    std::vector<std::string> out;
    for (const auto& arch : archs)
        out.push_back(fatbin::to_text(arch));
    return out;
}

Result<CompilerSays> ask_compiler(HttpConnection& connection, const IndexFile& file,
                                  const std::optional<fs::path>& workshop, const Cancellation* cancellation,
                                  std::uint64_t& bytes) {
    CM_TRY_ASSIGN(auto source, HttpSource::open(connection, file.url));
    scan::HashedSource hashed(*source);
    CM_TRY_ASSIGN(const auto zip, Zip::open(hashed, file.name));
    CompilerSays says;
    says.has_nvcc = member_at(zip, "/bin/nvcc") != nullptr;
    const auto* ptxas = member_at(zip, "/bin/ptxas");
    says.has_ptxas = ptxas != nullptr;
    Status status = Done{};
    if (workshop && ptxas != nullptr) {
        hashed.begin();
        Workpiece workpiece(*workshop, file);
        status = workpiece.write(zip, *ptxas);
        if (status.ok()) status = read_header(zip, says);
        if (status.ok()) {
            // Nothing of a wheel is run before all of it is known to be what the index lists.
            const auto sha256 = hashed.finish();
            if (!sha256.ok()) {
                status = sha256.failure();
            } else if (*sha256 != file.sha256) {
                status = input_failure(fmt::format("{} has the sha256 {}, and the index says {}",
                                                   text::printable(file.name), *sha256,
                                                   text::printable(file.sha256)));
            } else {
                status = run_ptxas(workpiece, file, cancellation, says);
            }
        }
    } else {
        status = read_header(zip, says);
    }
    bytes += source->transferred();
    if (!status.ok()) return status.failure();
    return says;
}

std::string_view own_processor() {
#if defined(__aarch64__)
    return "aarch64";
#else
    return "x86_64";
#endif
}

}  // namespace cudamatrix::measure
