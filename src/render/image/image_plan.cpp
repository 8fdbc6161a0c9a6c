#include "render/image/image_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/deployment/extended_cell.hpp"
#include "matrix/deployment/services.hpp"
#include "render/image/resolve_cell.hpp"

namespace cudamatrix {
namespace {

// Capabilities below this are not what the suite's kernels are written for.
constexpr std::uint32_t kOldestDefault = 6;

// The plain targets of a toolkit ("9.0", not "9.0a"), ascending.
std::vector<Version> plain_targets(const Facts& facts, const std::string& cuda) {
    std::vector<Version> targets;
    const auto found = lookup::cuda(facts, cuda);
    if (!found || !found->toolkit) return targets;
    for (const auto text : found->toolkit->list("targets")) {
        const auto version = Version::parse(text);
        if (version && version->suffix().empty()) targets.push_back(*version);
    }
    std::ranges::sort(targets);
    return targets;
}

std::optional<Version> nearest(const std::vector<Version>& targets, const Version& wanted, bool same_major) {
    std::optional<Version> best;
    for (const auto& target : targets) {
        if (target <= wanted && (!same_major || target.major() == wanted.major())) best = target;
    }
    return best;
}

void choose_targets(Image& image, const std::set<std::string>& asked, const Facts& facts) {
    const auto targets = plain_targets(facts, image.suite_cuda);
    if (targets.empty()) return;
    std::set<Version> chosen;
    std::optional<Version> left_to_ptx;
    for (const auto& text : asked) {
        const auto wanted = *Version::parse(text);
        if (const auto target = nearest(targets, wanted, true)) {
            chosen.insert(*target);
        } else {
            left_to_ptx = nearest(targets, wanted, false).value_or(targets.back());
        }
    }
    if (asked.empty()) {
        const auto first =
            std::ranges::find_if(targets, [](const Version& v) { return v.major() >= kOldestDefault; });
        chosen.insert(first == targets.end() ? targets.back() : *first);
        chosen.insert(targets.back());
    }
    if (chosen.empty() && left_to_ptx) chosen.insert(*left_to_ptx);
    for (const auto& target : chosen)
        image.compute.push_back(target.major_minor());
    image.ptx = image.compute.back();
}

bool is_of(const Service& service, const ImageEntry& entry) {
    return service.image.text.empty() || service.image.text == entry.name;
}

// Where the services of an entry mount volumes that start empty and belong to whom the image says.
std::vector<std::string> volume_folders(const std::vector<Service>& services, const ImageEntry& entry) {
    std::set<std::string> folders;
    for (const auto& service : services) {
        for (const auto& volume : service.volumes) {
            if (is_of(service, entry) && volume.named()) folders.insert(volume.target);
        }
    }
    return {folders.begin(), folders.end()};
}

// Cheap, and true without a GPU, which a container need not have: torch loads all that it is linked to, and
// the loader's cache says where the runtime library is. An image with neither has nothing that can break.
Healthcheck own_healthcheck(const Image& image) {
    if (!image.torch.empty()) return {{"python3", "-c", "import torch"}, "1m", "30s", "2m", {}};
    if (image.cudart.empty()) return {};
    return {{"grep", "-qF", image.cudart, "/etc/ld.so.cache"}, "1m", "10s", {}, {}};
}

// The image of a cell under an entry, or why there is none.
std::variant<Image, std::string> resolve_entry(const Matrix& matrix, const ImageEntry& entry,
                                               const Cell& cell, const Facts& facts, const Taken& taken) {
    ExtendedCell extended(cell);
    auto conflict = extended.add_packages(entry.pip);
    if (conflict.empty()) conflict = extended.add_env(entry.env);
    if (!conflict.empty()) return fmt::format("images: {} adds {}", entry.name, conflict);
    auto resolved = resolve_cell(matrix, extended.cell(), facts, taken);
    auto* image = std::get_if<Image>(&resolved);
    if (image == nullptr) {
        const auto& reason = std::get<std::string>(resolved);
        return entry.name.empty() ? reason : fmt::format("images: {}: {}", entry.name, reason);
    }
    // The entry's name stands for what it adds: the id says what the cell is.
    image->id = image_id(*image, facts);
    image->healthcheck = entry.healthcheck.test.empty() ? own_healthcheck(*image) : entry.healthcheck;
    if (entry.name.empty()) return resolved;
    if (!entry.pip.empty() || !entry.env.empty()) {
        auto named = *image;
        const auto plain = resolve_cell(matrix, cell, facts, taken);
        if (const auto* own = std::get_if<Image>(&plain)) {
            named.packages = own->packages;
            named.env = own->env;
            named.python = own->python;
        }
        image->id = image_id(named, facts);
    }
    image->id = entry.name + "-" + image->id;
    image->entry = entry.name;
    for (const auto& package : entry.apt)
        image->apt.push_back(package.text);
    image->copy = entry.copy;
    return resolved;
}

void add_left_out(Image& shared, const std::vector<std::string>& names) {
    std::set<std::string> all(shared.env_left_out.begin(), shared.env_left_out.end());
    all.insert(names.begin(), names.end());
    shared.env_left_out.assign(all.begin(), all.end());
}

// The images as they grow, cell by cell.
class Planner {
  public:
    Planner(const Matrix& matrix, const Facts& facts, const Taken& taken)
        : matrix_(matrix), entries_(matrix.deployment.images), facts_(facts), taken_(taken) {
        // Without entries there is one that adds nothing.
        if (entries_.empty()) entries_.emplace_back();
    }

    void add(const PlannedCell& planned) {
        std::vector<Image> images;
        for (const auto& entry : entries_) {
            if (!matches(entry.when, planned.cell)) continue;
            auto resolved = resolve_entry(matrix_, entry, planned.cell, facts_, taken_);
            if (auto* reason = std::get_if<std::string>(&resolved)) {
                plan_.refusals.push_back({planned.id, std::move(*reason)});
                return;
            }
            auto& image = images.emplace_back(std::move(std::get<Image>(resolved)));
            image.folders = volume_folders(matrix_.deployment.services, entry);
        }
        if (images.empty()) plan_.refusals.push_back({planned.id, "no entry of images matches it"});
        for (auto& image : images)
            serve(std::move(image), planned);
    }

    ImagePlan finish() {
        for (std::size_t i = 0; i < plan_.images.size(); ++i)
            choose_targets(plan_.images[i], asked_[i], facts_);
        return std::move(plan_);
    }

  private:
    void serve(Image image, const PlannedCell& planned) {
        const auto key = image.entry + "\n" + content_key(image);
        const auto left_out = image.env_left_out;
        const auto [place, fresh] = by_content_.try_emplace(key, plan_.images.size());
        if (fresh) {
            // "a-b" of entry "a" may read like another of entry "a-b".
            if (!ids_.insert(image.id).second) image.id += "-" + sha256(key).substr(0, 8);
            plan_.images.push_back(std::move(image));
            asked_.emplace_back();
        }
        auto& shared = plan_.images[place->second];
        shared.cells.push_back(planned.id);
        add_left_out(shared, left_out);
        if (const auto* shm = planned.cell.get(Field::shm_gb)) {
            if (const auto asked_for = Version::parse(shm->text))
                shared.shm_gb = std::max(shared.shm_gb, asked_for->major());
        }
        if (const auto compute = compute_of(planned.cell, facts_); !compute.empty())
            asked_[place->second].insert(compute);
    }

    const Matrix& matrix_;
    std::vector<ImageEntry> entries_;
    const Facts& facts_;
    const Taken& taken_;
    ImagePlan plan_;
    std::map<std::string, std::size_t> by_content_;
    std::set<std::string> ids_;
    std::vector<std::set<std::string>> asked_;
};

}  // namespace

ImagePlan plan_images(const Matrix& matrix, const std::vector<PlannedCell>& cells, const Facts& facts,
                      const Taken& taken) {
    Planner planner(matrix, facts, taken);
    for (const auto& cell : cells)
        planner.add(cell);
    return planner.finish();
}

std::vector<std::string> portable_targets(const Facts& facts, const std::string& cuda) {
    std::vector<std::string> lowest;
    std::uint32_t major = kOldestDefault - 1;
    for (const auto& target : plain_targets(facts, cuda)) {
        if (target.major() <= major) continue;
        major = target.major();
        lowest.push_back(target.major_minor());
    }
    return lowest;
}

namespace {

std::vector<std::size_t> images_of(const Service& service, const std::vector<Image>& images) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < images.size(); ++i) {
        if (service.image.text.empty() || images[i].entry == service.image.text) out.push_back(i);
    }
    return out;
}

Failure refused(std::string message, const Location& where, std::string fix) {
    return Failure{ExitCode::bad_input,
                   {Diagnostic::error(std::move(message), where).with_fix(std::move(fix))}};
}

// "80" lets the engine choose a port of the host, "8080:80" does not.
bool names_host_port(const Word& port) {
    return port.text.find(':') != std::string::npos;
}

}  // namespace

Result<ServicePlan> plan_services(const Deployment& deployment, const std::vector<Image>& images) {
    ServicePlan plan;
    if (deployment.services.empty()) {
        for (std::size_t i = 0; i < images.size(); ++i)
            plan.services.push_back({images[i].id, i, nullptr});
        return plan;
    }
    std::map<std::string, const Service*> names;
    for (const auto& service : deployment.services) {
        const auto of = images_of(service, images);
        if (of.empty()) plan.left_out.push_back(service.name);
        const auto published = std::ranges::find_if(service.ports, names_host_port);
        if (of.size() > 1 && published != service.ports.end()) {
            return refused(
                fmt::format("service {} is of {} ({} and {} ...): each would publish port {} of the host",
                            service.name, text::count(of.size(), "image"), images[of[0]].id, images[of[1]].id,
                            published->text),
                published->where, "write the container's port alone, or name an image that its cells share");
        }
        for (const auto index : of) {
            auto name = of.size() == 1 ? service.name : service.name + "-" + images[index].id;
            const auto [first, fresh] = names.try_emplace(name, &service);
            if (!fresh) {
                return refused(
                    fmt::format("service {}: service {} at {}:{} gives a compose service {} as well",
                                service.name, first->second->name, first->second->where.line,
                                first->second->where.column, name),
                    service.where, "give one of them another name");
            }
            plan.services.push_back({std::move(name), index, &service});
        }
    }
    return plan;
}

}  // namespace cudamatrix
