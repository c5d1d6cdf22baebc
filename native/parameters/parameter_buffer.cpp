#include "parameters/parameter_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_map>
#include <unordered_set>

namespace retrograd {

size_t unsettled = 0;

namespace compiler {
namespace {

struct Entry {
  std::weak_ptr<Store> store;
  uint32_t index;
};
std::unordered_map<const Value*, Entry>& entries() {
  static auto* map = new std::unordered_map<const Value*, Entry>;
  return *map;
}
std::vector<Store*>& living() {
  static auto* stores = new std::vector<Store*>;
  return *stores;
}
std::unordered_map<const void*, std::vector<Value*>>& orders() {
  static auto* map = new std::unordered_map<const void*, std::vector<Value*>>;
  return *map;
}
uint64_t version = 1;

double* new_array(size_t count) {
  constexpr std::align_val_t kLine{64};
  const size_t bytes = (count + 8) * sizeof(double);
  auto* array = static_cast<double*>(::operator new(bytes, kLine));
  std::memset(array, 0, bytes);
  return array;
}
void free_array(double* array) { ::operator delete(array, std::align_val_t{64}); }

}  // namespace

std::shared_ptr<Store> Store::make(const std::vector<Value*>& leaves) {
  std::shared_ptr<Store> store(new Store);
  store->values_ = leaves;
  store->data_ = new_array(leaves.size());
  store->gradients_ = new_array(leaves.size());
  living().push_back(store.get());
  for (size_t i = 0; i < leaves.size(); ++i) {
    entries()[leaves[i]] = {store, static_cast<uint32_t>(i)};
    leaves[i]->flags |= IN_STORE;
  }
  ++version;
  return store;
}

Store::~Store() {
  // What the Values are then may depend on the numbers here. An exception has nobody to go to.
  if (!dissolve()) PyErr_WriteUnraisable(nullptr);
  std::erase(living(), this);
  free_array(data_);
  free_array(gradients_);
}

void Store::write_zeros() { std::fill_n(new_gradients(), size(), 0.0); }

bool Store::dissolve() {
  const bool settled = settle();
  for (Value*& value : values_) {
    if (!value) continue;
    entries().erase(value);
    value->flags &= static_cast<uint8_t>(~IN_STORE);
    value = nullptr;
  }
  broken_ = true;
  ++version;
  return settled;
}

void Store::acquire() {
  if (ahead_) return;
  blank_ = false;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (i + 16 < values_.size() && values_[i + 16]) RETROGRAD_PREFETCH(values_[i + 16]);
    if (!values_[i]) continue;
    data_[i] = values_[i]->data;
    gradients_[i] = values_[i]->grad;
  }
  ahead_ = true;
  ++unsettled;
}

bool Store::settle() {
  if (!ahead_) return true;
  ahead_ = false;
  --unsettled;
  ChangeScope scope;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!values_[i]) continue;
    values_[i]->grad = blank_ ? 0.0 : gradients_[i];
    if (!scope.change(values_[i], data_[i])) {
      // No memory for what the pass must know of the change: the numbers here stay the true ones.
      ahead_ = true;
      ++unsettled;
      return false;
    }
  }
  return true;
}

StorePlace find_store(const Value* leaf) {
  if (!(leaf->flags & IN_STORE)) return {};
  auto found = entries().find(leaf);
  if (found == entries().end()) return {};
  return {found->second.store.lock(), found->second.index};
}

uint64_t stores_version() { return version; }

void remember_order(const void* key, std::vector<Value*> leaves) { orders()[key] = std::move(leaves); }
void forget_order(const void* key) { orders().erase(key); }

bool is_parameter(const Value* leaf) {
  if (leaf->flags & IN_STORE) return true;
  return std::any_of(orders().begin(), orders().end(), [&](const auto& order) {
    return std::find(order.second.begin(), order.second.end(), leaf) != order.second.end();
  });
}

std::vector<StorePlace> store_all(const std::vector<Value*>& leaves) {
  std::vector<std::shared_ptr<Store>> made;  // until their places are looked up
  // What is left of a store of which a leaf has died is taken anew: programs that use it must be, too.
  for (const Value* leaf : leaves) {
    const StorePlace place = find_store(leaf);
    if (place.store && place.store->broken() && !place.store->dissolve()) {
      PyErr_Clear();
      throw std::bad_alloc();
    }
  }
  auto take = [&](const std::vector<Value*>& order) {
    std::vector<Value*> taken;
    std::unordered_set<const Value*> seen;
    for (Value* leaf : order) {
      if (leaf->code == LEAF && !(leaf->flags & IN_STORE) && seen.insert(leaf).second) taken.push_back(leaf);
    }
    if (!taken.empty()) made.push_back(Store::make(taken));
  };
  const std::unordered_set<const Value*> wanted(leaves.begin(), leaves.end());
  for (auto& [key, order] : orders()) {
    if (std::any_of(order.begin(), order.end(), [&](const Value* leaf) { return wanted.count(leaf) > 0; })) take(order);
  }
  take(leaves);
  std::vector<StorePlace> places;
  places.reserve(leaves.size());
  for (const Value* leaf : leaves) places.push_back(find_store(leaf));
  return places;
}

}  // namespace compiler

bool settle_all() {
  // Settling runs no Python code unless it fails.
  for (compiler::Store* store : compiler::living()) {
    if (!store->settle()) return false;
  }
  return true;
}

void leaf_died(Value* leaf) {
  auto found = compiler::entries().find(leaf);
  if (found == compiler::entries().end()) return;
  if (auto store = found->second.store.lock()) store->forget(found->second.index);
  compiler::entries().erase(found);
  ++compiler::version;
}

}  // namespace retrograd
