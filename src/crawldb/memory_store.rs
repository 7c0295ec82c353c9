//! The crawl database in memory: the model that the contract suite compares the others with.
