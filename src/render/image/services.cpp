#include "render/image/services.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace cudamatrix {
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
        const auto published = std::find_if(service.ports.begin(), service.ports.end(), names_host_port);
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
