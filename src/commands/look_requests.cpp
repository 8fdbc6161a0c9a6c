// Which of the things that a matrix or a search names have to be looked at, and where.
#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "commands/look.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

using measure::MeasureRequest;

void note_packages(const Value& value, Named& named) {
    for (const auto& [written, version] : value.items) {
        if (version != kCompanionVersion && version != kNoPackage)
            named.packages[pep440::canonical_name(written)].insert(version);
    }
}

void note_image(std::string_view text, const Facts& facts, Named& named) {
    const auto reference = lookup::image_reference(text);
    if (reference.pinned || lookup::image_repository(facts, reference.repository)) return;
    named.images.insert(reference.repository + ":" + reference.tag);
}

// Collects what is named, field by field.
class Collector {
  public:
    explicit Collector(const Facts& facts) : facts_(facts) {}

    void add(Field field, const Value& value) {
        if (field == Field::packages) note_packages(value, named_);
        if (field == Field::image) note_image(value.text, facts_, named_);
        if (field == Field::torch) named_.torches.insert(value.text);
        if (field == Field::gpu || field == Field::compute) named_.gpu = true;
        if (field == Field::gpu) hosts_.emplace(lookup_host(value.text));
        if (field == Field::arch && (value.text == "x86_64" || value.text == "aarch64"))
            named_.arches.insert(value.text);
    }

    // A cell that names no processor is for that of its GPU, or for x86_64.
    Named take() && {
        if (named_.arches.empty()) {
            for (const auto& host : hosts_)
                named_.arches.insert(host.empty() ? std::string(kUsual) : host);
            if (hosts_.empty()) named_.arches.emplace(kUsual);
        }
        return std::move(named_);
    }

  private:
    static constexpr std::string_view kUsual = "x86_64";

    std::string lookup_host(std::string_view gpu) const {
        const auto row = lookup::gpu(facts_, gpu);
        return row ? std::string(row->text("host_arch")) : std::string();
    }

    const Facts& facts_;
    Named named_;
    std::set<std::string> hosts_;
};

// "2.14.1" of "2.14.1+cu126", and "cu126"; empty without one.
std::string number_of(const std::string& torch) {
    return torch.substr(0, torch.find('+'));
}
std::string variant_of(const std::string& torch) {
    const auto plus = torch.find('+');
    return plus == std::string::npos ? std::string() : torch.substr(plus + 1);
}

// cu126, cpu: what the PyTorch project names its indexes for; builds for other makers' GPUs are none of ours.
bool is_variant(std::string_view text) {
    if (text == "cpu") return true;
    return text.starts_with("cu") && text.size() > 3 &&
           std::all_of(text.begin() + 2, text.end(), text::is_digit);
}

// Whether there may be such a build, although no fact describes it.
bool is_open(const Facts& facts, const std::string& text, std::string_view arch, std::string_view today) {
    const auto variant = variant_of(text);
    const auto torch = lookup::torch(facts, text, arch);
    if (!torch || torch->wheel || (text != number_of(text) && !is_variant(variant))) return false;
    if (!torch->release) return true;
    if (torch->absent) return torch->absent->text("as_of") < today;
    if (variant.empty()) return !contains(torch->release->list("no_wheels_for"), arch);
    return torch->release->text("complete") != "true" || contains(torch->release->list("variants"), variant);
}

std::string open_arches(const Named& named, const Facts& facts, const std::string& text,
                        std::string_view today) {
    std::vector<std::string> out;
    for (const auto& arch : named.arches) {
        if (is_open(facts, text, arch, today)) out.push_back(arch);
    }
    return text::join(out, ",");
}

MeasureRequest torch_request(const std::string& arches) {
    MeasureRequest request;
    request.is_torch = true;
    request.packages = {"torch"};
    request.arch = arches;
    request.accept = true;  // the list of variants of a known release grows
    return request;
}

// Where the PyTorch project has the builds of a variant: as a fact says, or as it names the indexes that
// facts know. Empty: nothing tells.
std::string index_of(const Facts& facts, const std::string& variant) {
    if (const auto row = facts.row("index-" + variant); row && row->has("url"))
        return std::string(row->text("url"));
    std::string out;
    for (const auto& row : facts.rows("wheel_indexes")) {
        const auto end = fmt::format("/{}", row.text("name"));
        if (row.text("url").ends_with(end))
            out = std::string(row.text("url").substr(0, row.text("url").size() - end.size()));
    }
    return out.empty() ? out : fmt::format("{}/{}", out, variant);
}

// The index of a variant, where a site may have it elsewhere.
std::string index_of(const Facts& facts, const Mirrors& mirrors, const std::string& variant) {
    auto index = lookup::mirror_of_torch_index(facts, mirrors, variant);
    return index.empty() ? index_of(facts, variant) : index;
}

// What a row about a build that is not there says of where that was seen.
void set_source(MeasureRequest& request, const Facts& facts, const Mirrors& mirrors,
                const std::string& variant) {
    const auto index = index_of(facts, variant);
    if (index.empty()) return;
    request.absent_source = index + "/torch/";
    if (request.index != index || mirrored(index, mirrors) != index)
        request.absent_note = "asked at the mirror that the matrix file names";
}

// Builds, by the id of their wheel, of which a library was opened.
std::set<std::string> builds_with_libraries(const Facts& facts) {
    std::set<std::string> out;
    for (const auto& row : facts.rows("torch_libraries"))
        out.insert(fmt::format("torch-{}+{}-{}", row.text("torch"), row.text("variant"), row.text("arch")));
    return out;
}

// Whether one of the wheels that the row was read from was.
bool any_source(const Row& row, const std::function<bool(const std::string& sha256)>& was_read) {
    const auto sources = row.list("source");
    return std::any_of(sources.begin(), sources.end(), [&](std::string_view source) {
        return source.starts_with("wheel:") && was_read(std::string(source.substr(source.rfind(':') + 1)));
    });
}

}  // namespace

Named named_in(const Matrix& matrix, const Facts& facts) {
    Collector collector(facts);
    for (const auto& axis : matrix.axes) {
        for (const auto& row : axis.rows) {
            for (std::size_t i = 0; i < row.size(); ++i)
                collector.add(axis.fields[i], row[i]);
        }
    }
    for (const auto& [field, value] : matrix.set)
        collector.add(field, value);
    for (const auto& cell : matrix.include) {
        for (const auto& [field, value] : cell)
            collector.add(field, value);
    }
    return std::move(collector).take();
}

Named named_in(const std::vector<std::pair<Field, std::string>>& fields, const Facts& facts) {
    Collector collector(facts);
    for (const auto& [field, text] : fields) {
        if (field != Field::packages && field != Field::image) collector.add(field, {text, {}, {}});
    }
    return std::move(collector).take();
}

Requests package_requests(const Named& named, const Facts& facts) {
    MeasureRequest exact, unpinned;
    for (const auto& [name, versions] : named.packages) {
        for (const auto& version : versions) {
            // Of a package without a pin all releases are looked at, where no fact knows one.
            if (version == kAnyVersion) {
                if (facts.package_releases(name).empty()) unpinned.packages.push_back(name);
            } else if (!lookup::package_release(facts, name, version)) {
                exact.exactly[name].insert(version);
            }
        }
        if (exact.exactly.count(name) != 0) exact.packages.push_back(name);
    }
    Requests out;
    for (auto* request : {&exact, &unpinned}) {
        if (!request->packages.empty()) out.push_back(std::move(*request));
    }
    return out;
}

Requests image_requests(const Named& named, const Facts& facts, bool deep) {
    MeasureRequest request;
    request.is_image = true;
    request.accept = deep;  // the list of processors whose layers were read grows
    if (deep && named.gpu) request.layers = {named.arches.begin(), named.arches.end()};
    for (const auto& image : named.images) {
        const auto row = lookup::other_image(facts, lookup::image_reference(image));
        const bool is_read =
            row && std::ranges::all_of(request.layers, [&](const std::string& arch) {
                return contains(row->list("layers"), arch) || !contains(row->list("arch"), arch);
            });
        if (!is_read) request.packages.push_back(image);
    }
    return request.packages.empty() ? Requests() : Requests{std::move(request)};
}

Requests torch_requests(const Named& named, const Facts& facts, std::string_view today) {
    std::map<std::string, MeasureRequest> requests;  // by release: one answer serves all its builds
    for (const auto& text : named.torches) {
        const auto arches = open_arches(named, facts, text, today);
        if (arches.empty()) continue;
        const auto torch = *lookup::torch(facts, text, "x86_64");
        const auto number = torch.release ? torch.exact.text() : number_of(text);
        auto& request = requests.emplace(number, torch_request(arches)).first->second;
        // What its own index may have need not be here.
        request.may_lack = torch.release && !variant_of(text).empty();
        if (torch.exact.size() < 3) {
            request.versions = "==" + number + ".*";  // the newest of those is meant
            continue;
        }
        // An index of one variant names it in its files, the default index does not.
        if (!variant_of(text).empty()) request.exactly["torch"].insert(number + "+" + variant_of(text));
        if (!torch.release || variant_of(text).empty()) request.exactly["torch"].insert(number);
    }
    Requests out;
    for (auto& [number, request] : requests)
        out.push_back(std::move(request));
    return out;
}

Requests variant_requests(const Named& named, const Facts& facts, const Mirrors& mirrors,
                          std::string_view today) {
    Requests out;
    for (const auto& text : named.torches) {
        const auto variant = variant_of(text);
        const auto arches = open_arches(named, facts, text, today);
        if (variant.empty() || arches.empty()) continue;
        const auto torch = *lookup::torch(facts, text, "x86_64");
        if (torch.exact.size() < 3) continue;
        auto request = torch_request(arches);
        request.exactly["torch"] = {fmt::format("{}+{}", torch.exact.text(), variant)};
        request.index = index_of(facts, mirrors, variant);
        if (request.index.empty()) continue;
        set_source(request, facts, mirrors, variant);
        out.push_back(std::move(request));
    }
    return out;
}

Requests code_requests(const Named& named, const Facts& facts, const Facts& before, const Mirrors& mirrors,
                       const std::function<bool(const std::string& sha256)>& was_read) {
    Requests out;
    if (!named.gpu) return out;
    const auto opened = builds_with_libraries(facts);
    std::set<std::string> asked;
    for (const auto& text : named.torches) {
        for (const auto& arch : named.arches) {
            const auto torch = lookup::torch(facts, text, arch);
            if (!torch || !torch->wheel || torch->variant == "cpu") continue;
            const auto& wheel = *torch->wheel;
            const std::string id(wheel.id());
            // Of a wheel that others looked at, what it declares is enough, where it declares it.
            const bool is_open =
                !wheel.has("compute") || !wheel.has("ptx") || (!before.row(id) && opened.count(id) == 0);
            if (!is_open || any_source(wheel, was_read) || !asked.insert(id).second) continue;
            auto request = torch_request(arch);
            const auto number = torch->exact.text();
            request.exactly["torch"] = {number, number + "+" + torch->variant};
            request.held = request.known_libraries = request.fill = true;
            if (wheel.text("default_index") != "true")
                request.index = index_of(facts, mirrors, torch->variant);
            out.push_back(std::move(request));
        }
    }
    return out;
}

measure::PipRequest pip_request(const std::set<PipQuestion>& questions, const Facts& facts,
                                const Mirrors& mirrors, const std::string& index) {
    measure::PipRequest request;
    request.questions.assign(questions.begin(), questions.end());
    request.index = index;
    request.mirror = lookup::mirror_of_source(facts, mirrors, "pypi");
    if (const auto there = mirrored(index, mirrors); request.mirror.empty() && there != index)
        request.mirror = there;
    for (const auto& question : questions) {
        for (const auto& pin : question.pins) {
            const auto variant = pep440::local_of(pin);
            if (variant.empty()) continue;
            if (auto at = index_of(facts, mirrors, variant); !at.empty())
                request.variants[variant] = std::move(at);
        }
    }
    return request;
}

Requests need_requests(const std::vector<solve::Need>& needs, const Facts& facts) {
    Requests out;
    for (const auto& need : needs) {
        MeasureRequest request;
        request.packages = {need.package};
        request.versions = need.clauses;
        const auto known = facts.package_releases(need.package);
        const bool serves = std::ranges::any_of(
            known, [&](const PackageRelease& release) { return need.versions.admits(release.version); });
        if (serves) {
            const auto newer = fmt::format(">{}", known.back().version.without_local().text());
            const auto after = pep440::Specifiers::parse(newer);
            if (!after || need.versions.excludes(*after)) continue;
            request.versions += (need.clauses.empty() ? "" : ",") + newer;
            request.may_lack = true;
        }
        out.push_back(std::move(request));
    }
    return out;
}

}  // namespace cudamatrix
