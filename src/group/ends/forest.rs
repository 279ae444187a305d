//! Chains of pointers as a graph in which each node leads to at most one other.

/// The nodes of such a graph in an order in which each comes after the one it leads to.
#[derive(Debug, Default)]
pub(super) struct Forest {
    /// Every node; those of a cycle come one after the other, in no helpful order.
    pub(super) order: Vec<u32>,
    /// The cycles, each as the nodes in it.
    pub(super) cycles: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unseen,
    OnPath,
    Done,
}

impl Forest {
    /// Orders the nodes of a graph of which `next[n]` is the node that `n` leads to. Linear.
    pub(super) fn of(next: &[Option<u32>]) -> Self {
        let mut forest = Self::default();
        let mut marks = vec![Mark::Unseen; next.len()];
        let mut path: Vec<u32> = Vec::new();
        for start in 0..next.len() {
            let mut at = u32::try_from(start).ok();
            while let Some(node) = at {
                match marks[node as usize] {
                    Mark::Unseen => {
                        marks[node as usize] = Mark::OnPath;
                        path.push(node);
                        at = next[node as usize];
                    }
                    Mark::OnPath => {
                        let from = path.iter().rposition(|seen| *seen == node).unwrap_or(0);
                        forest.cycles.push(path[from..].to_vec());
                        break;
                    }
                    Mark::Done => break,
                }
            }
            for node in path.drain(..).rev() {
                marks[node as usize] = Mark::Done;
                forest.order.push(node);
            }
        }
        forest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_cycle_once_and_orders_the_rest() {
        // 0 → 1 → 2 → 1, 3 → 3, 4 → 5.
        let next = [Some(1), Some(2), Some(1), Some(3), Some(5), None];
        let forest = Forest::of(&next);
        assert_eq!(forest.cycles, [vec![1, 2], vec![3]]);
        let place = |node| forest.order.iter().position(|seen| *seen == node);
        assert_eq!(forest.order.len(), next.len());
        assert!(place(1) < place(0) && place(5) < place(4));
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let next: Vec<_> = (1..200_000).map(Some).chain([None]).collect();
        let forest = Forest::of(&next);
        assert_eq!(forest.order.first(), Some(&199_999));
        assert!(forest.cycles.is_empty());
    }
}
